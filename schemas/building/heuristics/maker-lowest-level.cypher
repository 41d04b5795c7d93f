// Of the makers of the goods, the one with the lowest level, which 5 levels more raise most in
// proportion; of equals, the lowest id.
MATCH (b:Building)-[s:Supply]->(g:Goods {name: $goods})
RETURN b.id AS id
ORDER BY b.level, b.id
LIMIT 1;
