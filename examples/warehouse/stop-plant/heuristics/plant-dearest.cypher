// The plant with the highest quarterly cost; of equals, the first by name.
MATCH (p:Plant)
WHERE p.name IN [$candidates]
RETURN p.name AS plant
ORDER BY p.quarterly_cost DESC, plant
LIMIT 1;
