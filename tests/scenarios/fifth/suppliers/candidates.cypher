MATCH (s:Supplier)-[o:Offer]->(p:Part {name: $part})
WHERE o.stock >= $pieces AND s.lead_days <= $days
RETURN s.name AS supplier
ORDER BY supplier;
