// The plant that made the fewest units in the quarter; of equals, the first by name.
MATCH (o:CustomerOrder)-[l:LINE]->(:Product)
WHERE o.quarter = date($quarter)
WITH l.plant_id AS plant_id, sum(l.shipped_quantity) AS units
MATCH (p:Plant)
WHERE p.plant_id = plant_id AND p.name IN [$candidates]
RETURN p.name AS plant, units
ORDER BY units, plant
LIMIT 1;
