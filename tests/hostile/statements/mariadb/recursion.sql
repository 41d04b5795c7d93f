-- Recursion without an end, or with a very late one.
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r a, r b, r c, r d;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT COUNT(*) FROM r a, r b, r c WHERE a.n * b.n % c.n = 1;
WITH RECURSIVE r(n, x) AS (SELECT 1, CAST('a' AS CHAR(16000000)) UNION ALL SELECT n + 1, CONCAT(x, REPEAT('a', 100000)) FROM r WHERE n < 900) SELECT MAX(LENGTH(x)) FROM r a;
WITH RECURSIVE walk(a, n) AS (SELECT building_id, 1 FROM supply UNION ALL SELECT d.building_id, n + 1 FROM walk JOIN supply s ON s.building_id = walk.a JOIN demand d ON d.goods_id = s.goods_id WHERE n < 900) SELECT COUNT(*) FROM walk;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r, (SELECT 1 UNION ALL SELECT 2) t WHERE n < 100) SELECT COUNT(*) FROM r;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT GROUP_CONCAT(a.n * b.n) FROM r a, r b, r c, r d GROUP BY a.n;
