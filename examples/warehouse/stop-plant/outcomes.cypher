// The lost profit of stopping each plant: rules 1 to 5.
MATCH (w:Warehouse)<-[:SERVED_FROM]-(o:CustomerOrder)-[l:LINE]->(g:Product)
WHERE o.quarter = date($quarter)
WITH l.plant_id AS plant_id, g, w, sum(l.shipped_quantity) AS units,
  sum(l.shipped_quantity * l.unit_price) AS revenue
MATCH (p:Plant)
WHERE p.plant_id = plant_id AND p.name IN [$candidates]
MATCH (p)-[m:MAKES]->(g), (p)-[x:LANE]->(w)
WITH p, g, w, units, revenue, m.unit_cost + x.unit_freight AS own_cost
OPTIONAL MATCH (g)<-[n:MAKES]-(q:Plant)-[y:LANE]->(w)
WHERE q.plant_id <> p.plant_id
WITH p, g, w, units, revenue, own_cost, min(n.unit_cost + y.unit_freight) AS other_cost
WITH p.name AS plant, p.quarterly_cost AS saved,
  sum(CASE
    WHEN other_cost IS NULL THEN revenue - units * own_cost
    ELSE units * (other_cost - own_cost)
  END) AS lost
RETURN plant, round(lost - saved, 2) AS lost_profit;
