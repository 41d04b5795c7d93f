-- The plant that made the fewest units in the quarter; of equals, the first by name.
SELECT p.name
FROM customer_order o
JOIN order_line l ON l.order_id = o.order_id
JOIN plant p ON p.plant_id = l.plant_id
WHERE o.quarter = $quarter AND p.name IN ($candidates)
GROUP BY p.name
ORDER BY SUM(l.shipped_quantity), p.name
LIMIT 1;
