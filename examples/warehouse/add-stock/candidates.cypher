// Warehouses with room for the units of every product of the family: rules 1 and 2.
MATCH (g:Product {family: $family})
WHERE g.discontinued_on IS NULL
WITH count(g) AS products
MATCH (w:Warehouse)-[s:HOLDS]->(:Product)
WITH products, w.name AS warehouse, w.capacity AS capacity, sum(s.on_hand) AS on_hand
WHERE capacity - on_hand >= $units * products
RETURN warehouse
ORDER BY warehouse;
