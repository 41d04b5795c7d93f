-- What the parser, the driver or Python's own limits make of a statement is the statement's fault.
SELECT CAST(x'ff00c3' AS TEXT);
SELECT char(55296, 57343);
SELECT abs(-9223372036854775808);
SELECT sum(9223372036854775807) FROM supply;
SELECT json_extract('{"a":', '$.a');
SELECT json_each.value FROM json_each('not json');
SELECT 9e999, -9e999, 9e999 - 9e999;
SELECT printf('%.*c', 900000000, 'a') || printf('%.*c', 900000000, 'b');
SELECT group_concat(printf('%.*c', 10000000, 'a')) FROM supply;
SELECT 'a' REGEXP '(';
SELECT 'a' REGEXP '(?P<x>a)(?P=y)';
SELECT 'a' REGEXP NULL, NULL REGEXP 'a', x'ff' REGEXP 'a', 1 REGEXP 1;
SELECT 'a' LIKE 'b' ESCAPE 'cc';
SELECT date('2024-02-30', '+999999999999 years'), strftime('%Q', 'now'), julianday(1e308);
SELECT json_group_object(NULL, goods_name) FROM goods;
SELECT * FROM goods ORDER BY 99;
SELECT (((((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))))))))));
SELECT 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 FROM goods NATURAL JOIN nothing;
