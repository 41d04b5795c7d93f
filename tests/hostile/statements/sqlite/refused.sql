-- Refused, and not with an exception of the parser's: it stumbles over these, in translation too.
SELECT xor();
SELECT xor(1);
SELECT month(), day(), hour(), date(), quarter(), week();
SELECT min(), max(), sum(), if(), cast();
SELECT extract(), substring(), trim(), position();
-- Refused for the length of what it would build.
SELECT max(length(json_set('[' || replace(hex(printf('%.*c', 2000000, 'a')), '61', '1,') || '1]', '$[#]', a.goods_id))) FROM supply a, supply b;
SELECT json_remove(x, '$[0]', '$[1]', '$[2]') FROM (SELECT '[' || replace(hex(printf('%.*c', 3000000, 'a')), '61', '{},') || '1]' AS x FROM supply a, demand b);
SELECT length(trim(printf('%.*c', 1000000, 'a'), printf('%.*c', 1000000, 'b') || 'a'));
SELECT length(ltrim(printf('%.*c', 2000000, 'a'), printf('%.*c', 500000, 'b') || 'a'));
SELECT length(rtrim(printf('%.*c', 500000, 'é'), printf('%.*c', 3000000, 'b') || 'é'));
SELECT length(replace(printf('%.*c', 15000000, 'a'), printf('%.*c', 7000000, 'a') || 'b', 'c'));
SELECT length(replace(printf('%.*c', 8000000, 'ab'), printf('%.*c', 3000000, 'a') || 'c', ''));
SELECT name, max(length(trim(name || printf('%.*c', 600000, 'z'), printf('%.*c', 600000, 'y') || 'z'))) FROM building GROUP BY name;
