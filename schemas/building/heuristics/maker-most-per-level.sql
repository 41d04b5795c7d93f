-- Of the makers of the goods, the one with the highest max_supply / level; of equals, the lowest id.
SELECT b.id
FROM supply s
JOIN goods g ON g.code = s.goods_id
JOIN building b ON b.id = s.building_id
WHERE g.goods_name = $goods AND b.level > 0
ORDER BY s.max_supply / b.level DESC, b.id
LIMIT 1;
