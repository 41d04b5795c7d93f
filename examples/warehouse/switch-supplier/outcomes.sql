-- What each supplier would have cost: rules 3 to 6.
WITH sold AS (
  SELECT l.product_id, SUM(l.shipped_quantity) AS units,
    SUM(l.shipped_quantity * l.unit_price) AS revenue
  FROM customer_order o
  JOIN order_line l ON l.order_id = o.order_id
  WHERE o.quarter = $quarter
  GROUP BY l.product_id
),
bought AS (
  SELECT ps.supplier_id, SUM(sold.units * ps.unit_cost) AS cost, SUM(sold.revenue) AS revenue
  FROM sold
  JOIN product p ON p.product_id = sold.product_id
  JOIN product_supplier ps ON ps.product_id = sold.product_id
  WHERE p.family = $family AND p.discontinued_on IS NULL
  GROUP BY ps.supplier_id
),
delivered AS (
  SELECT sh.supplier_id, COUNT(*) AS shipments,
    SUM(CASE WHEN sh.delivered_on <= sh.due_on THEN 0 ELSE 1 END) AS late
  FROM shipment sh
  JOIN product p ON p.product_id = sh.product_id
  WHERE sh.quarter = $quarter AND p.family = $family
  GROUP BY sh.supplier_id
)
SELECT s.name AS supplier,
  ROUND(
    COALESCE(bought.cost, 0)
    + 0.25 * COALESCE(bought.revenue, 0) * delivered.late * 1E0 / delivered.shipments,
    2
  ) AS cost
FROM supplier s
JOIN delivered ON delivered.supplier_id = s.supplier_id
LEFT JOIN bought ON bought.supplier_id = s.supplier_id
WHERE s.name IN ($candidates);
