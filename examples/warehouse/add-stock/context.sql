-- What each warehouse lost in the quarter, of the family.
SELECT w.name AS warehouse, SUM(lost.revenue) AS lost_revenue, SUM(lost.units) AS lost_units
FROM (
  SELECT o.warehouse_id, l.product_id, SUM(l.quantity - l.shipped_quantity) AS units,
    SUM((l.quantity - l.shipped_quantity) * l.unit_price) AS revenue
  FROM customer_order o
  JOIN order_line l ON l.order_id = o.order_id
  WHERE o.quarter = $quarter
  GROUP BY o.warehouse_id, l.product_id
) lost
JOIN product p ON p.product_id = lost.product_id
JOIN warehouse w ON w.warehouse_id = lost.warehouse_id
WHERE p.family = $family AND p.discontinued_on IS NULL AND w.name IN ($candidates)
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
