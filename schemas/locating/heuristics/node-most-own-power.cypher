// Of all nodes but the home, the one where the country has the highest base_trading_power; of
// equals, the first by name.
MATCH (c:Country {name: $country})-[p:NodeCountry]->(n:Trade_node)
WHERE n.name <> $home
RETURN n.name AS trade_node
ORDER BY p.base_trading_power DESC, n.name
LIMIT 1;
