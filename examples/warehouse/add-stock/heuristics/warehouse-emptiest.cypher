// The warehouse in which the fewest units of the family lie; of equals, the first by name.
MATCH (w:Warehouse)-[s:HOLDS]->(g:Product {family: $family})
WHERE w.name IN [$candidates]
WITH w.name AS warehouse, sum(s.on_hand) AS on_hand
RETURN warehouse
ORDER BY on_hand, warehouse
LIMIT 1;
