// Of the nodes with a route to the home, the one with the highest local_value + ingoing; of equals,
// the first by name.
MATCH (n:Trade_node)-[f:source]->(h:Trade_node {name: $home})
RETURN n.name AS source
ORDER BY n.local_value + n.ingoing DESC, n.name
LIMIT 1;
