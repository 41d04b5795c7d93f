// Of the nodes within three routes of the home where the country has power, the one with the highest
// outgoing; of equals, the first by name.
MATCH (c:Country {name: $country})-[p:NodeCountry]->(n:Trade_node)-[:source*1..3]->(h:Trade_node {name: $home})
WHERE n.total_power > 0
RETURN n.name AS trade_node
ORDER BY n.outgoing DESC, n.name
LIMIT 1;
