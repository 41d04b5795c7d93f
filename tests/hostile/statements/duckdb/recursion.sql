-- Recursion without an end, or with a very late one.
WITH RECURSIVE r(n) AS (SELECT 1::BIGINT UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r;
WITH RECURSIVE r(n) AS (SELECT 1::BIGINT UNION ALL SELECT n + 1 FROM r, range(2)) SELECT count(*) FROM r;
WITH RECURSIVE r(n, x) AS (SELECT 1::BIGINT, 'a' UNION ALL SELECT n + 1, x || x FROM r) SELECT max(length(x)) FROM r;
WITH RECURSIVE r(n, l) AS (SELECT 1::BIGINT, [1] UNION ALL SELECT n + 1, list_concat(l, l) FROM r) SELECT max(len(l)) FROM r;
WITH RECURSIVE walk(a, path) AS (SELECT building_id, [building_id] FROM supply UNION ALL SELECT d.building_id, list_append(path, d.building_id) FROM walk JOIN supply s ON s.building_id = walk.a JOIN demand d ON d.goods_id = s.goods_id) SELECT count(*), max(len(path)) FROM walk;
WITH RECURSIVE r(n) AS (SELECT 1.0::DOUBLE UNION SELECT n + 1 FROM r) SELECT count(*) FROM r;
