-- Certified suppliers that offer the whole family and delivered in the quarter: rules 1 and 2.
SELECT s.name
FROM supplier s
JOIN product_supplier ps ON ps.supplier_id = s.supplier_id
JOIN product p ON p.product_id = ps.product_id
WHERE s.certified AND p.family = $family AND p.discontinued_on IS NULL
  AND s.supplier_id IN (
    SELECT sh.supplier_id
    FROM shipment sh
    JOIN product q ON q.product_id = sh.product_id
    WHERE sh.quarter = $quarter AND q.family = $family
  )
GROUP BY s.name
HAVING COUNT(*) = (
  SELECT COUNT(*) FROM product WHERE family = $family AND discontinued_on IS NULL
)
ORDER BY s.name;
