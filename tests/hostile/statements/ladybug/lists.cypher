// Long lists, maps and JSON.
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN DISTINCT a * b;
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN collect(a * b);
UNWIND range(1, 1000) AS i RETURN i, range(1, 1000000) ORDER BY i DESC;
UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN x, y ORDER BY x * y DESC;
UNWIND range(1, 1000000) AS x WITH collect(x) AS l UNWIND l AS y UNWIND l AS z RETURN sum(y * z);
UNWIND range(1, 1000000) AS x UNWIND range(1, 100) AS y RETURN histogram(x), count(y);
