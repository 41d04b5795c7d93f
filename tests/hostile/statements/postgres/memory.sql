-- Rows and results of gigabytes.
SELECT repeat('a', 1000 * 100000) || a.goods_id, repeat('b', 1000 * 100000) || b.goods_id FROM supply a, supply b;
SELECT repeat('x', 5000 * 100000) FROM supply a;
