// Of the inputs of the makers of the goods, the one with the highest max_demand - current_input at
// one of them; and of its makers, the one with the highest max_supply / level. Of equals, the lowest
// code and id.
MATCH (b:Building)-[s:Supply]->(n:Goods)-[d:Demand]->(m:Building)-[o:Supply]->(g:Goods {name: $goods})
WHERE b.level > 0
RETURN b.id AS id
ORDER BY d.max_demand - d.current_input DESC, n.code, s.max_supply / b.level DESC, b.id
LIMIT 1;
