-- Of the nodes with a route to a node with a route to the home, the one with the highest outgoing
-- that does not go along that route already; of equals, the first by name.
SELECT g.source
FROM flow f
JOIN flow g ON g.dest = f.source
JOIN trade_node n ON n.trade_node = g.source
WHERE f.dest = $home
ORDER BY n.outgoing - g.flow DESC, g.source
LIMIT 1;
