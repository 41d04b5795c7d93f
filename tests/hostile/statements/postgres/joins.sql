-- Every row with every row, sorted, grouped, aggregated.
SELECT count(*) FROM supply a, supply b, supply c, supply d, supply e;
SELECT DISTINCT a.max_supply * b.max_supply * c.max_supply * d.max_supply FROM supply a, supply b, supply c, supply d;
SELECT a.goods_name, count(*) FROM goods a, goods b, goods c, goods d, goods e, goods f GROUP BY a.goods_name;
SELECT a.id, b.id, random() AS r FROM building a, building b, building c, building d ORDER BY r;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.max_supply * b.max_supply * c.max_supply * d.max_supply) FROM supply a, supply b, supply c, supply d;
SELECT count(*) FROM building a LEFT JOIN building b ON a.id <> b.id LEFT JOIN building c ON b.id <> c.id LEFT JOIN building d ON c.id <> d.id LEFT JOIN building e ON d.id <> e.id;
SELECT (SELECT count(*) FROM supply b, supply c, supply d WHERE b.level >= a.level) FROM supply a, supply z;
SELECT sum(b.level) OVER (ORDER BY a.max_supply * b.max_supply * c.max_supply ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING EXCLUDE CURRENT ROW) FROM supply a, supply b, supply c;
SELECT max(x) OVER (ORDER BY n ROWS BETWEEN 50000 PRECEDING AND 50000 FOLLOWING EXCLUDE TIES) FROM (SELECT n, n % 7 AS x FROM generate_series(1, 200000) n) t;
SELECT count(*) FROM pg_catalog.pg_proc a, pg_catalog.pg_proc b, pg_catalog.pg_proc c, pg_catalog.pg_attribute d;
SELECT mode() WITHIN GROUP (ORDER BY a.level * b.level * c.level * d.level) FROM supply a, supply b, supply c, supply d;
SELECT count(*) FROM generate_series(1, 1000000) a JOIN generate_series(1, 1000000) b ON a < b;
SELECT GROUPING(a.level, b.level), count(*) FROM supply a, supply b, supply c, supply d GROUP BY CUBE (a.level, b.level, c.level);
