// Certified suppliers that offer the whole family and delivered in the quarter: rules 1 and 2.
MATCH (g:Product {family: $family})
WHERE g.discontinued_on IS NULL
WITH count(g) AS products
MATCH (s:Supplier)-[:OFFERS]->(g:Product {family: $family})
WHERE s.certified AND g.discontinued_on IS NULL
WITH s, products, count(g) AS offered
WHERE offered = products
MATCH (s)-[:SENT]->(sh:Shipment)-[:CONTAINS]->(:Product {family: $family})
WHERE sh.quarter = date($quarter)
RETURN DISTINCT s.name AS supplier
ORDER BY supplier;
