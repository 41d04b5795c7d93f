-- Warehouses with room for the units of every product of the family: rules 1 and 2.
SELECT w.name
FROM warehouse w
JOIN stock s ON s.warehouse_id = w.warehouse_id
GROUP BY w.name, w.capacity
HAVING w.capacity - SUM(s.on_hand) >= $units * (
  SELECT COUNT(*) FROM product WHERE family = $family AND discontinued_on IS NULL
)
ORDER BY w.name;
