-- Long lists, maps and JSON.
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 200000), j(x) AS (SELECT json_group_object('k' || n, n) FROM r) SELECT length(json_patch(x, replace(x, 'k', 'q'))) FROM j;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 300000), j(x) AS (SELECT json_group_object('k' || n, n) FROM r) SELECT json_extract(x, '$.k299999', '$.k299998', '$.k299997'), json_patch(x, x) FROM j;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1000000), j(x) AS (SELECT json_group_array(n) FROM r) SELECT sum(json_extract(x, '$[' || n || ']')) FROM j, r;
SELECT count(*) FROM json_tree(replace(printf('%.*c', 900, '['), ' ', '') || printf('%.*c', 900, ']')), supply a, supply b, supply c, supply d;
SELECT count(*) FROM json_each('[' || replace(hex(printf('%.*c', 1000000, 'a')), '61', '1,') || '1]') a, json_each('[' || replace(hex(printf('%.*c', 1000000, 'a')), '61', '1,') || '1]') b;
SELECT count(*) FROM pragma_table_list a, pragma_table_list b, pragma_table_list c, pragma_table_list d, json_each('[1,2,3,4,5,6,7,8,9]') e, json_each('[1,2,3,4,5,6,7,8,9]') f, json_each('[1,2,3,4,5,6,7,8,9]') g, json_each('[1,2,3,4,5,6,7,8,9]') h;
SELECT count(*) FROM json_each('[1,2,3,4,5,6,7,8,9]') a, json_each('[1,2,3,4,5,6,7,8,9]') b, json_each('[1,2,3,4,5,6,7,8,9]') c, json_each('[1,2,3,4,5,6,7,8,9]') d, json_each('[1,2,3,4,5,6,7,8,9]') e, json_each('[1,2,3,4,5,6,7,8,9]') f, json_each('[1,2,3,4,5,6,7,8,9]') g, json_each('[1,2,3,4,5,6,7,8,9]') h, json_each('[1,2,3,4,5,6,7,8,9]') i;
