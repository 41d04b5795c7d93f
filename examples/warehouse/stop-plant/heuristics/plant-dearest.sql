-- The plant with the highest quarterly cost; of equals, the first by name.
SELECT name
FROM plant
WHERE name IN ($candidates)
ORDER BY quarterly_cost DESC, name
LIMIT 1;
