-- Every row with every row, sorted, grouped, aggregated.
SELECT count(*) FROM supply a, supply b, supply c, supply d, supply e;
SELECT max(a.max_supply * b.max_supply * c.max_supply) FROM supply a, supply b, supply c, demand d, demand e;
SELECT a.goods_name, count(*) FROM goods a, goods b, goods c, goods d, goods e, goods f GROUP BY a.goods_name;
SELECT DISTINCT a.level + b.level + c.level + d.level FROM supply a, supply b, supply c, supply d WHERE a.level > b.level;
SELECT a.id FROM building a, building b, building c, building d, building e WHERE a.id + b.id + c.id + d.id + e.id < 0;
SELECT count(*) FROM building a LEFT JOIN building b ON a.id <> b.id LEFT JOIN building c ON b.id <> c.id LEFT JOIN building d ON c.id <> d.id LEFT JOIN building e ON d.id <> e.id;
SELECT sum(a.id) FROM building a NATURAL JOIN (SELECT 1 AS x) JOIN goods JOIN supply JOIN demand JOIN goods g JOIN building b;
SELECT 1 FROM supply a WHERE NOT EXISTS (SELECT 1 FROM supply b, supply c, supply d, supply e WHERE b.level * c.level * d.level * e.level < -1);
SELECT (SELECT count(*) FROM supply b, supply c, supply d WHERE b.level >= a.level) FROM supply a, supply z;
SELECT count(*) FROM (SELECT goods_id FROM supply UNION ALL SELECT goods_id FROM demand) a, (SELECT * FROM supply, demand) b, (SELECT * FROM supply, demand) c;
