-- The supplier whose parts cost least, summed over the family; of equals, the first by name.
SELECT s.name
FROM supplier s
JOIN product_supplier ps ON ps.supplier_id = s.supplier_id
JOIN product p ON p.product_id = ps.product_id
WHERE p.family = $family AND p.discontinued_on IS NULL AND s.name IN ($candidates)
GROUP BY s.name
ORDER BY SUM(ps.unit_cost), s.name
LIMIT 1;
