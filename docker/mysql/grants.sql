-- The image lets the user "dqa" into the database "dqa" only, but every situation gets a
-- database of its own: those whose names start with "dqa" are this user's to create and fill.
GRANT ALL PRIVILEGES ON `dqa%`.* TO 'dqa'@'%';
