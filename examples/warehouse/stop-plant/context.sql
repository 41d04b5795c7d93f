-- What each plant made in the quarter, and what it costs; a saving that is higher comes first.
SELECT p.name AS plant, p.quarterly_cost, SUM(l.shipped_quantity) AS units,
  SUM(l.shipped_quantity * l.unit_price) AS revenue, COUNT(DISTINCT l.product_id) AS products
FROM customer_order o
JOIN order_line l ON l.order_id = o.order_id
JOIN plant p ON p.plant_id = l.plant_id
WHERE o.quarter = $quarter AND p.name IN ($candidates)
GROUP BY p.name, p.quarterly_cost
ORDER BY p.quarterly_cost DESC, p.name;
-- How many of the products that a plant can make no other plant can.
SELECT p.name AS plant, COUNT(*) AS products,
  SUM(CASE WHEN makers.plants = 1 THEN 1 ELSE 0 END) AS made_nowhere_else
FROM plant p
JOIN plant_product pp ON pp.plant_id = p.plant_id
JOIN (SELECT product_id, COUNT(*) AS plants FROM plant_product GROUP BY product_id) makers
  ON makers.product_id = pp.product_id
WHERE p.name IN ($candidates)
GROUP BY p.name
ORDER BY p.name;
