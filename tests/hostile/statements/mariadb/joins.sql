-- Every row with every row, sorted, grouped, aggregated.
SELECT COUNT(*) FROM supply a, supply b, supply c, supply d, supply e WHERE a.level + b.level + c.level + d.level + e.level <> 0;
SELECT a.goods_name, COUNT(*) FROM goods a, goods b, goods c, goods d, goods e, goods f GROUP BY a.goods_name;
SELECT DISTINCT a.max_supply * b.max_supply * c.max_supply * d.max_supply FROM supply a, supply b, supply c, supply d;
SELECT 1 FROM supply a WHERE NOT EXISTS (SELECT 1 FROM supply b, supply c, supply d, supply e WHERE b.level * c.level * d.level * e.level < -1 - a.level * a.level);
SELECT (SELECT COUNT(*) FROM supply b, supply c, supply d WHERE b.level + c.level + d.level >= a.level) FROM supply a, supply z;
SELECT COUNT(*) FROM building a LEFT JOIN building b ON a.id <> b.id LEFT JOIN building c ON b.id <> c.id LEFT JOIN building d ON c.id <> d.id LEFT JOIN building e ON d.id <> e.id;
SELECT a.id, b.id, RAND() AS r FROM building a, building b, building c, building d ORDER BY r;
SELECT RANK() OVER (PARTITION BY a.level ORDER BY b.max_supply * c.max_supply * d.max_supply) FROM supply a, supply b, supply c, supply d;
SELECT a.level, SUM(b.level) OVER (ORDER BY a.max_supply * b.max_supply * c.max_supply ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING) FROM supply a, supply b, supply c;
SELECT COUNT(*) FROM seq_1_to_1000000 a, seq_1_to_1000000 b;
SELECT COUNT(*) FROM supply a NATURAL JOIN demand b, goods c, goods d, goods e, goods f, goods g, building h, building i;
