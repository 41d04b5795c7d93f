// Patterns that are applied to many texts.
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000) AS b WITH toString(a * b) AS s WHERE s =~ '.*1.*2.*' RETURN count(s);
