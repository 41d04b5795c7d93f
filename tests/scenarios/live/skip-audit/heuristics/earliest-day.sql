SELECT MIN(opened) AS day FROM plant WHERE opened IN ($candidates);
