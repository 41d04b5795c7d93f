-- Rows and results of gigabytes.
SELECT CONCAT(a.level, REPEAT('a', 160 * 100000)), CONCAT(b.level, REPEAT('b', 160 * 100000)) FROM supply a, supply b;
SELECT REPEAT('x', 167 * 100000) FROM supply a, supply b;
SELECT REPEAT('a', 160 * 100000), REPEAT('b', 160 * 100000), REPEAT('c', 160 * 100000) FROM supply;
SELECT CONCAT(REPEAT('a', 80 * 100000), a.goods_id, b.goods_id) AS big FROM supply a, supply b ORDER BY big DESC;
SELECT DISTINCT CONCAT(REPEAT('a', 40 * 100000), a.goods_id, '-', b.goods_id, b.building_id) FROM supply a, supply b;
SELECT JSON_OBJECTAGG(CONCAT(a.id, '-', b.id, '-', c.id), REPEAT('v', 10000)) FROM building a, building b, building c;
SELECT REPEAT(CONCAT(a.goods_name, 'é'), 20 * 100000), MD5(RAND()) FROM goods a, goods b, goods c;
SELECT LAG(x, 100) OVER (ORDER BY n) FROM (SELECT a.goods_id AS n, CONCAT(REPEAT('l', 30 * 100000), b.goods_id) AS x FROM supply a, supply b) t;
SELECT t.x, u.x FROM (SELECT REPEAT(name, 1000000) AS x FROM building) t, (SELECT REPEAT(name, 1000000) AS x FROM building) u;
SELECT GROUP_CONCAT(CONCAT(REPEAT('g', 100000), a.id, b.id) SEPARATOR ',') FROM building a, building b, building c GROUP BY a.id;
