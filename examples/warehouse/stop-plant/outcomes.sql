-- The lost profit of stopping each plant: rules 1 to 5.
WITH made AS (
  SELECT l.plant_id, l.product_id, o.warehouse_id,
    SUM(l.shipped_quantity) AS units, SUM(l.shipped_quantity * l.unit_price) AS revenue
  FROM customer_order o
  JOIN order_line l ON l.order_id = o.order_id
  WHERE o.quarter = $quarter
  GROUP BY l.plant_id, l.product_id, o.warehouse_id
),
cost AS (
  SELECT pp.plant_id, pp.product_id, lane.warehouse_id,
    pp.unit_cost + lane.unit_freight AS unit_cost
  FROM plant_product pp
  JOIN lane ON lane.plant_id = pp.plant_id
),
moved AS (
  SELECT m.plant_id, m.units, m.revenue, own.unit_cost + lane.unit_freight AS own_cost,
    MIN(other.unit_cost) AS other_cost
  FROM made m
  JOIN plant p ON p.plant_id = m.plant_id
  JOIN plant_product own ON own.plant_id = m.plant_id AND own.product_id = m.product_id
  JOIN lane ON lane.plant_id = m.plant_id AND lane.warehouse_id = m.warehouse_id
  LEFT JOIN cost other ON other.product_id = m.product_id
    AND other.warehouse_id = m.warehouse_id AND other.plant_id <> m.plant_id
  WHERE p.name IN ($candidates)
  GROUP BY m.plant_id, m.product_id, m.warehouse_id, m.units, m.revenue, own.unit_cost,
    lane.unit_freight
)
SELECT p.name AS plant,
  SUM(
    CASE
      WHEN moved.other_cost IS NULL THEN moved.revenue - moved.units * moved.own_cost
      ELSE moved.units * (moved.other_cost - moved.own_cost)
    END
  ) - p.quarterly_cost AS lost_profit
FROM plant p
JOIN moved ON moved.plant_id = p.plant_id
WHERE p.name IN ($candidates)
GROUP BY p.name, p.quarterly_cost;
