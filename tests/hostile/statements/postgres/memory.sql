-- Rows and results of gigabytes.
SELECT array_agg(repeat('a', 1000000) || b.goods_id) FROM supply a, supply b GROUP BY a.goods_id;
SELECT xmlagg(xmlelement(name a, repeat('x', 1000000))) FROM supply a, supply b;
