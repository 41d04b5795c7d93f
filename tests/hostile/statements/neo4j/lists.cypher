// Long lists, maps and JSON.
RETURN reduce(a = 0, x IN range(1, 1000000) | a + reduce(b = 0, y IN range(1, 1000000) | b + y));
RETURN size([x IN range(1, 1000000) WHERE any(y IN range(1, 1000000) WHERE x = y * 7919)]);
RETURN size(reduce(l = [], x IN range(1, 300000) | l + x));
UNWIND range(1, 1000) AS i RETURN [x IN range(1, 1000000) | x * i];
UNWIND range(1, 1000) AS i WITH [x IN range(1, 1000000) | toString(x) + i] AS l RETURN collect(l);
WITH range(1, 1000000) AS l UNWIND l AS x UNWIND l AS y UNWIND l AS z RETURN count(*);
WITH range(1, 1000000) AS l UNWIND l AS x UNWIND l AS y RETURN collect(DISTINCT x * y);
RETURN all(x IN range(1, 1000000) WHERE none(y IN range(1, 1000000) WHERE y = -x));
RETURN size([x IN range(1, 1000000) WHERE x IN [y IN range(1, 1000000) WHERE y % 2 = 1 | y * x]]);
