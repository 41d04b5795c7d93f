-- Of the makers of the goods, the one with the lowest level, which 5 levels more raise most in
-- proportion; of equals, the lowest id.
SELECT b.id
FROM supply s
JOIN goods g ON g.code = s.goods_id
JOIN building b ON b.id = s.building_id
WHERE g.goods_name = $goods
ORDER BY b.level, b.id
LIMIT 1;
