// Refused for the length of what it would build.
UNWIND range(1, 1000) AS i WITH [x IN range(1, 1000000) | toString(x) + i] AS l RETURN collect(l);
