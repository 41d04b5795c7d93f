MATCH (s:Supplier)-[o:Offer]->(p:Part {name: $part})
WHERE s.name IN [$candidates]
RETURN s.name AS supplier, $pieces * o.unit_price + s.shipping AS bill;
