// The goods in question; the buildings that make them, with how far their scarcest input is met;
// what those need; and who makes that.
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
  min(CASE WHEN d.max_demand > 0 THEN d.current_input / d.max_demand ELSE null END)
    AS scarcest_input_met
ORDER BY max_supply DESC, id;

MATCH (n:Goods)-[d:Demand]->(b:Building)-[:Supply]->(g:Goods {name: $goods})
RETURN b.id AS id, n.name AS needs, d.max_demand AS max_demand, d.current_input AS current_input,
  n.current_price AS price_of_input
ORDER BY id, needs;

MATCH (b:Building)-[s:Supply]->(n:Goods)-[:Demand]->(m:Building)-[:Supply]->(g:Goods {name: $goods})
RETURN DISTINCT b.id AS id, b.name AS name, b.level AS level, n.name AS makes_input,
  s.max_supply AS max_supply, s.current_output AS current_output
ORDER BY max_supply DESC, id, makes_input;
