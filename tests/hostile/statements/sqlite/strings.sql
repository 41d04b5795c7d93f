-- One function of texts takes for ever, or gigabytes.
SELECT instr(printf('%.*c', 15000000, 'a'), printf('%.*c', 7000000, 'a') || 'b');
SELECT instr(printf('%.*c', 4000000, 'é'), printf('%.*c', 2000000, 'é') || 'b');
SELECT sum(instr(printf('%.*c', 5000000, 'x'), printf('%.*c', 2000000, 'x') || goods_name)) FROM goods;
SELECT count(DISTINCT substr(printf('%.*c', 9000000, 'a'), a.goods_id, 8000000) || b.building_id) FROM supply a, supply b;
SELECT count(*) FROM supply a, supply b WHERE printf('%.*c', 9000000, a.goods_id) = printf('%.*c', 9000000, b.building_id);
