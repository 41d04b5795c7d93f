-- Rows and results of gigabytes.
SELECT repeat('a', 1000 * 100000) || a.goods_id, repeat('b', 1000 * 100000) || b.goods_id FROM supply a, supply b;
SELECT repeat('x', 5000 * 100000) FROM supply a;
SELECT repeat('x', 160 * 100000), repeat('y', 160 * 100000), repeat('z', 160 * 100000) FROM supply a, supply b;
SELECT repeat('a', 100 * 100000) || a.goods_id || b.goods_id AS big FROM supply a, supply b ORDER BY big DESC;
SELECT array_agg(repeat('a', 1000000) || b.goods_id) FROM supply a, supply b GROUP BY a.goods_id;
SELECT lag(x, 100) OVER (ORDER BY n) FROM (SELECT a.goods_id AS n, repeat('l', 30 * 100000) || b.goods_id AS x FROM supply a, supply b) t;
SELECT xmlagg(xmlelement(name a, repeat('x', 1000000))) FROM supply a, supply b;
SELECT convert_to(repeat('x', 3000 * 100000), 'UTF8') FROM supply;
