// Long lists, maps and JSON.
UNWIND range(1, 1000) AS i RETURN [x IN range(1, 1000000) | x * i];
WITH range(1, 1000000) AS l UNWIND l AS x UNWIND l AS y UNWIND l AS z RETURN count(*);
WITH range(1, 1000000) AS l UNWIND l AS x UNWIND l AS y RETURN collect(DISTINCT x * y);
UNWIND range(1, 1000000) AS x WITH collect(toString(x)) AS l UNWIND range(1, 100) AS y RETURN y, l, [z IN l | z + y];
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN DISTINCT a * b;
UNWIND range(1, 1000000) AS a RETURN percentileCont(a, 0.5), stDev(a), collect(a), collect(toString(a)), collect({a: a, b: [a, a, a, a, a]});
