// How often each supplier was on time in the quarter, with this family.
MATCH (s:Supplier)-[:SENT]->(sh:Shipment)-[:CONTAINS]->(:Product {family: $family})
WHERE sh.quarter = date($quarter) AND s.name IN [$candidates]
RETURN s.name AS supplier,
  sum(CASE WHEN sh.delivered_on <= sh.due_on THEN 1 ELSE 0 END) AS on_time,
  count(sh) AS shipments
ORDER BY supplier;
// What a unit of each product of the family costs, on average.
MATCH (s:Supplier)-[f:OFFERS]->(g:Product {family: $family})
WHERE g.discontinued_on IS NULL AND s.name IN [$candidates]
RETURN s.name AS supplier, round(avg(f.unit_cost), 2) AS mean_unit_cost
ORDER BY supplier;
