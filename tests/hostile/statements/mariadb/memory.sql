-- Rows and results of gigabytes.
SELECT JSON_OBJECTAGG(CONCAT(a.id, '-', b.id, '-', c.id), REPEAT('v', 10000)) FROM building a, building b, building c;
SELECT t.x, u.x FROM (SELECT REPEAT(name, 1000000) AS x FROM building) t, (SELECT REPEAT(name, 1000000) AS x FROM building) u;
SELECT GROUP_CONCAT(CONCAT(REPEAT('g', 100000), a.id, b.id) SEPARATOR ',') FROM building a, building b, building c GROUP BY a.id;
