-- Rows and results of gigabytes.
SELECT printf('%.*c', 15000000, 'a') || a.goods_id, printf('%.*c', 15000000, 'b') || b.goods_id FROM supply a, supply b;
SELECT printf('%.*c', 15900000, 'x') FROM supply a, supply b;
SELECT a.goods_id, printf('%.*c', 10000000, 'a') || a.building_id AS big FROM supply a, supply b ORDER BY big DESC;
SELECT DISTINCT printf('%.*c', 5000000, 'a') || a.goods_id || '-' || b.goods_id || b.building_id FROM supply a, supply b;
WITH RECURSIVE r(n, x) AS (SELECT 1, printf('%.*c', 10000000, 'a') UNION ALL SELECT n + 1, x || n FROM r WHERE n < 1000000) SELECT n FROM r ORDER BY x;
WITH RECURSIVE r(n, x) AS (SELECT 1, printf('%.*c', 14000000, 'a') UNION SELECT n + 1, substr(x, 1, 13000000) || n FROM r) SELECT count(*) FROM r;
SELECT first_value(x) OVER (ORDER BY x), last_value(x) OVER (ORDER BY x DESC) FROM (SELECT printf('%.*c', 4000000, 'w') || a.id || b.id AS x FROM building a, building b);
SELECT a.x || b.x FROM (SELECT printf('%.*c', 7000000, name) AS x FROM building) a, (SELECT printf('%.*c', 7000000, name) AS x FROM building) b;
SELECT lag(x, 1000) OVER (ORDER BY n) FROM (SELECT a.goods_id AS n, printf('%.*c', 3000000, 'l') || b.goods_id AS x FROM supply a, supply b);
SELECT group_concat(x, printf('%.*c', 1000, ',')) FROM (SELECT hex(printf('%.*c', 300, 'a')) AS x FROM supply a, demand b) UNION ALL SELECT hex(printf('%.*c', 7900000, 'a')) FROM supply a, demand b;
