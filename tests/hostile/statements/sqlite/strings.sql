-- One function of texts takes for ever, or gigabytes.
SELECT length(trim(printf('%.*c', 1000000, 'a'), printf('%.*c', 1000000, 'b') || 'a'));
SELECT length(ltrim(printf('%.*c', 2000000, 'a'), printf('%.*c', 500000, 'b') || 'a'));
SELECT length(rtrim(printf('%.*c', 500000, 'é'), printf('%.*c', 3000000, 'b') || 'é'));
SELECT instr(printf('%.*c', 15000000, 'a'), printf('%.*c', 7000000, 'a') || 'b');
SELECT instr(printf('%.*c', 4000000, 'é'), printf('%.*c', 2000000, 'é') || 'b');
SELECT length(replace(printf('%.*c', 15000000, 'a'), printf('%.*c', 7000000, 'a') || 'b', 'c'));
SELECT length(replace(printf('%.*c', 8000000, 'ab'), printf('%.*c', 3000000, 'a') || 'c', ''));
SELECT sum(instr(printf('%.*c', 5000000, 'x'), printf('%.*c', 2000000, 'x') || goods_name)) FROM goods;
SELECT name, max(length(trim(name || printf('%.*c', 600000, 'z'), printf('%.*c', 600000, 'y') || 'z'))) FROM building GROUP BY name;
SELECT count(DISTINCT substr(printf('%.*c', 9000000, 'a'), a.goods_id, 8000000) || b.building_id) FROM supply a, supply b;
SELECT count(*) FROM supply a, supply b WHERE printf('%.*c', 9000000, a.goods_id) = printf('%.*c', 9000000, b.building_id);
