// Of the nodes that can be chosen and hold no merchant of the country yet, the one where it has the
// highest base_trading_power; of equals, the first by name.
MATCH (c:Country {name: $country})-[p:NodeCountry]->(n:Trade_node)
WHERE n.name <> $home
RETURN n.name AS trade_node
ORDER BY p.has_merchant, p.base_trading_power DESC, n.name
LIMIT 1;
