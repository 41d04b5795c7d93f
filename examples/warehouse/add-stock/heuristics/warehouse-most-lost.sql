-- The warehouse that lost the most units of the family in the quarter; of equals, the first by name.
SELECT w.name
FROM (
  SELECT o.warehouse_id, l.product_id, SUM(l.quantity - l.shipped_quantity) AS units
  FROM customer_order o
  JOIN order_line l ON l.order_id = o.order_id
  WHERE o.quarter = $quarter
  GROUP BY o.warehouse_id, l.product_id
) lost
JOIN product p ON p.product_id = lost.product_id
JOIN warehouse w ON w.warehouse_id = lost.warehouse_id
WHERE p.family = $family AND p.discontinued_on IS NULL AND w.name IN ($candidates)
GROUP BY w.name
ORDER BY SUM(lost.units) DESC, w.name
LIMIT 1;
