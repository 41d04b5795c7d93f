// The warehouse that lost the most units of the family in the quarter; of equals, the first by name.
MATCH (w:Warehouse)<-[:SERVED_FROM]-(o:CustomerOrder)-[l:LINE]->(g:Product {family: $family})
WHERE o.quarter = date($quarter) AND g.discontinued_on IS NULL AND w.name IN [$candidates]
WITH w.name AS warehouse, sum(l.quantity - l.shipped_quantity) AS units
RETURN warehouse
ORDER BY units DESC, warehouse
LIMIT 1;
