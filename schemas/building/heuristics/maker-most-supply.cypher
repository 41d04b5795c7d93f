// Of the makers of the goods, the one with the highest max_supply; of equals, the lowest id.
MATCH (b:Building)-[s:Supply]->(g:Goods {name: $goods})
RETURN b.id AS id
ORDER BY s.max_supply DESC, b.id
LIMIT 1;
