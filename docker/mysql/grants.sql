-- The image gives the user "dqa" rights only on the database "dqa". Each situation is loaded into
-- its own database, so the user may create and fill all databases whose names start with "dqa".
GRANT ALL PRIVILEGES ON `dqa%`.* TO 'dqa'@'%';
