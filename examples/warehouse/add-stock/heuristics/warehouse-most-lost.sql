-- The warehouse that lost the most units of the family in the quarter; of equals, the first by name.
SELECT w.name
FROM customer_order o
JOIN order_line l ON l.order_id = o.order_id
JOIN product p ON p.product_id = l.product_id
JOIN warehouse w ON w.warehouse_id = o.warehouse_id
WHERE o.quarter = $quarter AND p.family = $family AND p.discontinued_on IS NULL
  AND w.name IN ($candidates)
GROUP BY w.name
ORDER BY SUM(l.quantity - l.shipped_quantity) DESC, w.name
LIMIT 1;
