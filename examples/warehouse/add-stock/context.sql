-- What each warehouse lost in the quarter, of the family.
SELECT w.name AS warehouse, SUM((l.quantity - l.shipped_quantity) * l.unit_price) AS lost_revenue,
  SUM(l.quantity - l.shipped_quantity) AS lost_units
FROM customer_order o
JOIN order_line l ON l.order_id = o.order_id
JOIN product p ON p.product_id = l.product_id
JOIN warehouse w ON w.warehouse_id = o.warehouse_id
WHERE o.quarter = $quarter AND p.family = $family AND p.discontinued_on IS NULL
  AND l.shipped_quantity < l.quantity AND w.name IN ($candidates)
GROUP BY w.name
ORDER BY w.name;
-- What lies there today, and what keeping it costs.
SELECT w.name AS warehouse, SUM(s.on_hand) AS on_hand, w.capacity, w.holding_cost
FROM warehouse w
JOIN stock s ON s.warehouse_id = w.warehouse_id
JOIN product p ON p.product_id = s.product_id
WHERE p.family = $family AND w.name IN ($candidates)
GROUP BY w.name, w.capacity, w.holding_cost
ORDER BY w.name;
