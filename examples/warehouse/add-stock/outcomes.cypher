// What the units would have earned in each warehouse: rules 3 to 7.
MATCH (g:Product {family: $family})<-[m:MAKES]-(:Plant)-[x:LANE]->(w:Warehouse)
WHERE g.discontinued_on IS NULL AND w.name IN [$candidates]
WITH w, g, min(m.unit_cost + x.unit_freight) AS unit_cost
OPTIONAL MATCH (w)<-[:SERVED_FROM]-(o:CustomerOrder)-[l:LINE]->(g)
WHERE o.quarter = date($quarter)
WITH w, g, unit_cost, sum(l.quantity - l.shipped_quantity) AS units,
  sum((l.quantity - l.shipped_quantity) * l.unit_price) AS revenue
WITH w.name AS warehouse,
  sum(CASE
    WHEN units IS NULL OR units = 0 THEN 0 - $units * w.holding_cost
    WHEN units <= $units
      THEN revenue - units * unit_cost - ($units - units) * w.holding_cost
    ELSE $units * (revenue / units - unit_cost)
  END) AS earned
RETURN warehouse, round(earned, 2) AS extra_profit;
