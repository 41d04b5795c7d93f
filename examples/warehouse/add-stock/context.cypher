// What each warehouse lost in the quarter, of the family.
MATCH (w:Warehouse)<-[:SERVED_FROM]-(o:CustomerOrder)-[l:LINE]->(g:Product {family: $family})
WHERE o.quarter = date($quarter) AND g.discontinued_on IS NULL AND w.name IN [$candidates]
RETURN w.name AS warehouse, sum((l.quantity - l.shipped_quantity) * l.unit_price) AS lost_revenue,
  sum(l.quantity - l.shipped_quantity) AS lost_units
ORDER BY warehouse;
// What lies there today, and what keeping it costs.
MATCH (w:Warehouse)-[s:HOLDS]->(g:Product {family: $family})
WHERE w.name IN [$candidates]
RETURN w.name AS warehouse, sum(s.on_hand) AS on_hand, w.capacity AS capacity,
  w.holding_cost AS holding_cost
ORDER BY warehouse;
