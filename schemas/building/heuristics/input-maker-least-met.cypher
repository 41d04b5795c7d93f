// Of the inputs of the makers of the goods, the one with the lowest current_input / max_demand; and
// of its makers, the one with the highest max_supply / level. Of equals, the lowest code and id.
MATCH (b:Building)-[s:Supply]->(n:Goods)-[d:Demand]->(m:Building)-[o:Supply]->(g:Goods {name: $goods})
WHERE d.max_demand > 0 AND b.level > 0
RETURN b.id AS id
ORDER BY d.current_input / d.max_demand, n.code, s.max_supply / b.level DESC, b.id
LIMIT 1;
