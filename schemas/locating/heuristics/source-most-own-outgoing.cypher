// Of the nodes with a route to the home, the one where the country's share of the power, by its
// base_trading_power, is the most of outgoing; of equals, the first by name.
MATCH (c:Country {name: $country})-[p:NodeCountry]->(n:Trade_node)-[f:source]->(h:Trade_node {name: $home})
WHERE n.total_power > 0
RETURN n.name AS source
ORDER BY p.base_trading_power * n.outgoing / n.total_power DESC, n.name
LIMIT 1;
