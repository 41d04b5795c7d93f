// Patterns that backtrack, or that are applied to long texts.
WITH reduce(s = '', x IN range(1, 30000) | s + ' ') AS s RETURN s + 'x' =~ '\\s+\\s+\\s+\\s+';
WITH reduce(s = '', x IN range(1, 5000) | s + 'a') AS s RETURN s =~ '.*.*.*.*b';
WITH reduce(s = '', x IN range(1, 40) | s + 'a') AS s RETURN s =~ '(.*a){25}b';
