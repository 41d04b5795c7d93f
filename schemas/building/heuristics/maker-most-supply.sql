-- Of the makers of the goods, the one with the highest max_supply; of equals, the lowest id.
SELECT s.building_id AS id
FROM supply s
JOIN goods g ON g.code = s.goods_id
WHERE g.goods_name = $goods
ORDER BY s.max_supply DESC, s.building_id
LIMIT 1;
