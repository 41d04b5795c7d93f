-- Of the inputs of the makers of the goods, the one with the highest max_demand - current_input at
-- one of them; and of its makers, the one with the highest max_supply / level. Of equals, the lowest
-- code and id.
SELECT b.id
FROM supply m
JOIN goods g ON g.code = m.goods_id
JOIN demand d ON d.building_id = m.building_id
JOIN supply s ON s.goods_id = d.goods_id
JOIN building b ON b.id = s.building_id
WHERE g.goods_name = $goods AND b.level > 0
ORDER BY d.max_demand - d.current_input DESC, d.goods_id, s.max_supply / b.level DESC, b.id
LIMIT 1;
