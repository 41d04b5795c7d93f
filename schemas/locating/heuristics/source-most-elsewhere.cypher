// Of the nodes with a route to the home, the one with the highest outgoing that does not go there
// already; of equals, the first by name.
MATCH (n:Trade_node)-[f:source]->(h:Trade_node {name: $home})
RETURN n.name AS source
ORDER BY n.outgoing - f.flow DESC, n.name
LIMIT 1;
