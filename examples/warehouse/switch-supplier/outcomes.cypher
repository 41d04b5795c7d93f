// What each supplier would have cost: rules 3 to 6.
MATCH (g:Product {family: $family})
WHERE g.discontinued_on IS NULL
OPTIONAL MATCH (o:CustomerOrder)-[l:LINE]->(g)
WHERE o.quarter = date($quarter)
WITH g, sum(l.shipped_quantity) AS units, sum(l.shipped_quantity * l.unit_price) AS paid
MATCH (s:Supplier)-[f:OFFERS]->(g)
WHERE s.name IN [$candidates]
WITH s, sum(CASE WHEN units > 0 THEN units * f.unit_cost ELSE 0.0 END) AS cost,
  sum(CASE WHEN units > 0 THEN paid ELSE 0.0 END) AS revenue
MATCH (s)-[:SENT]->(sh:Shipment)-[:CONTAINS]->(:Product {family: $family})
WHERE sh.quarter = date($quarter)
WITH s, cost, revenue, count(sh) AS shipments,
  sum(CASE WHEN sh.delivered_on <= sh.due_on THEN 0.0 ELSE 1.0 END) AS late
RETURN s.name AS supplier, round(cost + 0.25 * revenue * late / shipments, 2) AS cost;
