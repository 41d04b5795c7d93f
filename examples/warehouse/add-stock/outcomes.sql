-- What the units would have earned in each warehouse: rules 3 to 7.
WITH lost AS (
  SELECT o.warehouse_id, l.product_id, SUM(l.quantity - l.shipped_quantity) AS units,
    SUM((l.quantity - l.shipped_quantity) * l.unit_price) AS revenue
  FROM customer_order o
  JOIN order_line l ON l.order_id = o.order_id
  WHERE o.quarter = $quarter AND l.shipped_quantity < l.quantity
  GROUP BY o.warehouse_id, l.product_id
),
source AS (
  SELECT pp.product_id, lane.warehouse_id, MIN(pp.unit_cost + lane.unit_freight) AS unit_cost
  FROM plant_product pp
  JOIN lane ON lane.plant_id = pp.plant_id
  GROUP BY pp.product_id, lane.warehouse_id
)
SELECT w.name AS warehouse,
  ROUND(SUM(
    CASE
      WHEN lost.units IS NULL THEN 0 - $units * w.holding_cost
      WHEN lost.units <= $units
        THEN lost.revenue - lost.units * source.unit_cost - ($units - lost.units) * w.holding_cost
      ELSE $units * (1E0 * lost.revenue / lost.units - source.unit_cost)
    END
  ), 2) AS extra_profit
FROM warehouse w
CROSS JOIN product p
JOIN source ON source.product_id = p.product_id AND source.warehouse_id = w.warehouse_id
LEFT JOIN lost ON lost.product_id = p.product_id AND lost.warehouse_id = w.warehouse_id
WHERE w.name IN ($candidates) AND p.family = $family AND p.discontinued_on IS NULL
GROUP BY w.name;
