// Of the nodes that can be chosen and hold no merchant of the country yet, the one with the highest
// local_value + ingoing; of equals, the first by name.
MATCH (c:Country {name: $country})-[p:NodeCountry]->(n:Trade_node)
WHERE n.name <> $home
RETURN n.name AS trade_node
ORDER BY p.has_merchant, n.local_value + n.ingoing DESC, n.name
LIMIT 1;
