// One function of texts takes for ever, or gigabytes.
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN max(size(replace(toString(a * b), '1', '22')));
WITH reduce(s = 'a', x IN range(1, 24) | s + s) AS s UNWIND range(1, 1000000) AS i RETURN max(size(replace(s, 'a', 'b')));
WITH reduce(s = 'a', x IN range(1, 22) | s + s) AS s RETURN s CONTAINS (left(s, 2000000) + 'b'), size(replace(s, left(s, 2000000) + 'b', ''));
WITH reduce(s = 'a', x IN range(1, 30) | s + s) AS s RETURN size(s);
RETURN size(reduce(s = '', x IN range(1, 1000000) | s + toString(x)));
WITH reduce(s = 'é', x IN range(1, 24) | s + s) AS s UNWIND range(1, 10000) AS i RETURN max(size(normalize(s + toString(i), NFKD)));
WITH reduce(s = 'a', x IN range(1, 24) | s + s) AS s UNWIND range(1, 100000) AS i RETURN max(reverse(s + toString(i)));
WITH reduce(s = ' ', x IN range(1, 24) | s + s) AS s UNWIND range(1, 100000) AS i RETURN max(size(trim(s + 'x' + s + toString(i) + s)));
WITH reduce(s = 'a', x IN range(1, 24) | s + s) AS s UNWIND range(1, 100000) AS i RETURN max(size(toUpper(s + toString(i))));
