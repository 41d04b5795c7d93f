// What each plant made in the quarter, and what it costs; a saving that is higher comes first.
MATCH (o:CustomerOrder)-[l:LINE]->(g:Product)
WHERE o.quarter = date($quarter)
MATCH (p:Plant)
WHERE p.plant_id = l.plant_id AND p.name IN [$candidates]
RETURN p.name AS plant, p.quarterly_cost AS quarterly_cost, sum(l.shipped_quantity) AS units,
  sum(l.shipped_quantity * l.unit_price) AS revenue, count(DISTINCT g.product_id) AS products
ORDER BY quarterly_cost DESC, plant;
// How many of the products that a plant can make no other plant can.
MATCH (p:Plant)-[:MAKES]->(g:Product)
WHERE p.name IN [$candidates]
WITH p, g
MATCH (q:Plant)-[:MAKES]->(g)
WITH p, g, count(q) AS plants
RETURN p.name AS plant, count(g) AS products,
  sum(CASE WHEN plants = 1 THEN 1 ELSE 0 END) AS made_nowhere_else
ORDER BY plant;
