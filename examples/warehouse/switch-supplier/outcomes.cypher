// What each supplier would have cost: rules 3 to 6.
MATCH (s:Supplier)-[:SENT]->(sh:Shipment)-[:CONTAINS]->(:Product {family: $family})
WHERE sh.quarter = date($quarter) AND s.name IN [$candidates]
WITH s, count(sh) AS shipments,
  sum(CASE WHEN sh.delivered_on <= sh.due_on THEN 0.0 ELSE 1.0 END) AS late
OPTIONAL MATCH (o:CustomerOrder)-[l:LINE]->(g:Product {family: $family})<-[f:OFFERS]-(s)
WHERE o.quarter = date($quarter) AND g.discontinued_on IS NULL
WITH s, shipments, late, sum(l.shipped_quantity * f.unit_cost) AS cost,
  sum(l.shipped_quantity * l.unit_price) AS revenue
RETURN s.name AS supplier, round(cost + 0.25 * revenue * late / shipments, 2) AS cost;
