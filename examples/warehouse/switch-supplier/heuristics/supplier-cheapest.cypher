// The supplier whose parts cost least, summed over the family; of equals, the first by name.
MATCH (s:Supplier)-[f:OFFERS]->(g:Product {family: $family})
WHERE g.discontinued_on IS NULL AND s.name IN [$candidates]
WITH s.name AS supplier, sum(f.unit_cost) AS cost
RETURN supplier
ORDER BY cost, supplier
LIMIT 1;
