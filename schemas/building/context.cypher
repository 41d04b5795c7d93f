// The goods in question; the buildings that make them, with the mean share of their inputs that is
// met (rule 6); what those buildings need, with its supply and demand; and who makes that.
MATCH (g:Goods {name: $goods})
OPTIONAL MATCH (g)-[d:Demand]->(:Building)
WITH g, sum(d.max_demand) AS buildings_demand
OPTIONAL MATCH (:Building)-[s:Supply]->(g)
RETURN g.name AS goods_name, g.base_price AS base_price, g.current_price AS current_price,
  g.pop_demand AS pop_demand, buildings_demand, sum(s.current_output) AS total_supply;

MATCH (b:Building)-[s:Supply]->(g:Goods {name: $goods})
OPTIONAL MATCH (n:Goods)-[d:Demand]->(b)
RETURN b.id AS id, b.name AS name, b.level AS level, s.max_supply AS max_supply,
  s.current_output AS current_output, count(n) AS inputs,
  avg(CASE WHEN d.current_input < d.max_demand THEN d.current_input / d.max_demand
    WHEN d.max_demand IS NOT NULL THEN 1.0 ELSE null END) AS inputs_met
ORDER BY max_supply DESC, id;

MATCH (n:Goods)-[d:Demand]->(b:Building)-[:Supply]->(g:Goods {name: $goods})
MATCH (n)-[a:Demand]->(:Building)
WITH n, d, b, n.pop_demand + sum(a.max_demand) AS demand_of_input
OPTIONAL MATCH (:Building)-[s:Supply]->(n)
RETURN b.id AS id, n.name AS needs, d.max_demand AS max_demand, d.current_input AS current_input,
  demand_of_input, sum(s.current_output) AS supply_of_input
ORDER BY id, needs;

MATCH (b:Building)-[s:Supply]->(n:Goods)-[:Demand]->(m:Building)-[:Supply]->(g:Goods {name: $goods})
WITH DISTINCT b, s, n
OPTIONAL MATCH (a:Goods)-[:Demand]->(b)
RETURN b.id AS id, b.name AS name, b.level AS level, n.name AS makes_input,
  s.max_supply AS max_supply, s.current_output AS current_output, count(a) AS inputs
ORDER BY max_supply DESC, id, makes_input;
