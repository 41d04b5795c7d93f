// Of the makers of the goods, the one with the highest max_supply / level; of equals, the lowest id.
MATCH (b:Building)-[s:Supply]->(g:Goods {name: $goods})
WHERE b.level > 0
RETURN b.id AS id
ORDER BY s.max_supply / b.level DESC, b.id
LIMIT 1;
