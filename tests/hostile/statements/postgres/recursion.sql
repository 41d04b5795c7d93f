-- Recursion without an end, or with a very late one.
WITH RECURSIVE r(n) AS (SELECT 1::bigint UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r;
WITH RECURSIVE r(n) AS (SELECT 1::bigint UNION SELECT n + 1 FROM r) SELECT count(*) FROM r;
WITH RECURSIVE r(n, x) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, x || x FROM r) SELECT max(length(x)) FROM r;
WITH RECURSIVE walk(a, path) AS (SELECT building_id, ARRAY[building_id] FROM supply UNION ALL SELECT d.building_id, path || d.building_id FROM walk JOIN supply s ON s.building_id = walk.a JOIN demand d ON d.goods_id = s.goods_id) SELECT count(*), max(cardinality(path)) FROM walk;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r, generate_series(1, 2)) SELECT count(*) FROM r;
