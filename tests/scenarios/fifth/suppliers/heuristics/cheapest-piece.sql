-- The supplier whose piece costs least; of equals, the first by name.
SELECT supplier
FROM offer
WHERE part = $part
ORDER BY unit_price, supplier
LIMIT 1;
