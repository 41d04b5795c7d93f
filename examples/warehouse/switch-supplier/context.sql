-- How often each supplier was on time in the quarter, with this family.
SELECT s.name AS supplier,
  SUM(CASE WHEN sh.delivered_on <= sh.due_on THEN 1 ELSE 0 END) AS on_time, COUNT(*) AS shipments
FROM supplier s
JOIN shipment sh ON sh.supplier_id = s.supplier_id
JOIN product p ON p.product_id = sh.product_id
WHERE sh.quarter = $quarter AND p.family = $family AND s.name IN ($candidates)
GROUP BY s.name
ORDER BY s.name;
-- What a unit of each product of the family costs, on average.
SELECT s.name AS supplier, ROUND(AVG(ps.unit_cost), 2) AS mean_unit_cost
FROM supplier s
JOIN product_supplier ps ON ps.supplier_id = s.supplier_id
JOIN product p ON p.product_id = ps.product_id
WHERE p.family = $family AND p.discontinued_on IS NULL AND s.name IN ($candidates)
GROUP BY s.name
ORDER BY s.name;
