// What the units would have earned in each warehouse: rules 3 to 7.
// Every unit is kept at first; what a unit that is sold saves of that is given back.
MATCH (g:Product {family: $family})
WHERE g.discontinued_on IS NULL
WITH count(g) AS products
MATCH (w:Warehouse)
WHERE w.name IN [$candidates]
OPTIONAL MATCH (w)<-[:SERVED_FROM]-(o:CustomerOrder)-[l:LINE]->(g:Product {family: $family})
WHERE o.quarter = date($quarter) AND g.discontinued_on IS NULL
WITH products, w, g, sum(l.quantity - l.shipped_quantity) AS units,
  sum((l.quantity - l.shipped_quantity) * l.unit_price) AS revenue
OPTIONAL MATCH (g)<-[m:MAKES]-(:Plant)-[x:LANE]->(w)
WITH products, w, g, units, revenue, min(m.unit_cost + x.unit_freight) AS unit_cost
WITH products, w.name AS warehouse, w.holding_cost AS holding_cost,
  sum(CASE
    WHEN units IS NULL OR units = 0 THEN 0.0
    WHEN units <= $units THEN revenue - units * (unit_cost - w.holding_cost)
    ELSE $units * (revenue / units - unit_cost + w.holding_cost)
  END) AS earned
RETURN warehouse, round(earned - products * $units * holding_cost, 2) AS extra_profit;
