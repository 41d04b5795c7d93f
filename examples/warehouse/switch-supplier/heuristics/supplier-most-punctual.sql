-- The supplier with the smallest share of late deliveries; of equals, the first by name.
SELECT s.name
FROM supplier s
JOIN shipment sh ON sh.supplier_id = s.supplier_id
JOIN product p ON p.product_id = sh.product_id
WHERE sh.quarter = $quarter AND p.family = $family AND s.name IN ($candidates)
GROUP BY s.name
ORDER BY SUM(CASE WHEN sh.delivered_on <= sh.due_on THEN 0 ELSE 1E0 END) / COUNT(*), s.name
LIMIT 1;
