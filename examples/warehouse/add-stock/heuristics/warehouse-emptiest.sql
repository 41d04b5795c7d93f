-- The warehouse in which the fewest units of the family lie; of equals, the first by name.
SELECT w.name
FROM warehouse w
JOIN stock s ON s.warehouse_id = w.warehouse_id
JOIN product p ON p.product_id = s.product_id
WHERE p.family = $family AND w.name IN ($candidates)
GROUP BY w.name
ORDER BY SUM(s.on_hand), w.name
LIMIT 1;
