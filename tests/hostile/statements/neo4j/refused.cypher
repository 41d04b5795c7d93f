// Refused for the length of what it would build, or for steps that the server cannot interrupt.
UNWIND range(1, 1000) AS i WITH [x IN range(1, 1000000) | toString(x) + i] AS l RETURN collect(l);
RETURN size(reduce(l = [], x IN range(1, 300000) | l + x));
WITH reduce(s = '', x IN range(1, 30000) | s + ' ') AS s RETURN s + 'x' =~ '\\s+\\s+\\s+\\s+';
WITH reduce(s = '', x IN range(1, 5000) | s + 'a') AS s RETURN s =~ '.*.*.*.*b';
WITH reduce(s = '', x IN range(1, 40) | s + 'a') AS s RETURN s =~ '(.*a){25}b';
RETURN size(reduce(s = '', x IN range(1, 1000000) | s + toString(x)));
RETURN size([x IN range(1, 1000000) | size([y IN range(1, 1000000) | x * y])]);
