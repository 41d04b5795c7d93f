// The supplier with the smallest share of late deliveries; of equals, the first by name.
MATCH (s:Supplier)-[:SENT]->(sh:Shipment)-[:CONTAINS]->(:Product {family: $family})
WHERE sh.quarter = date($quarter) AND s.name IN [$candidates]
WITH s.name AS supplier,
  sum(CASE WHEN sh.delivered_on <= sh.due_on THEN 0.0 ELSE 1.0 END) / count(sh) AS late
RETURN supplier
ORDER BY late, supplier
LIMIT 1;
