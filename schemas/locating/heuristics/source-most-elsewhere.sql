-- Of the nodes with a route to the home, the one with the highest outgoing that does not go there
-- already; of equals, the first by name.
SELECT f.source
FROM flow f
JOIN trade_node n ON n.trade_node = f.source
WHERE f.dest = $home
ORDER BY n.outgoing - f.flow DESC, f.source
LIMIT 1;
