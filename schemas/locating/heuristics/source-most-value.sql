-- Of the nodes with a route to the home, the one with the highest local_value + ingoing; of equals,
-- the first by name.
SELECT f.source
FROM flow f
JOIN trade_node n ON n.trade_node = f.source
WHERE f.dest = $home
ORDER BY n.local_value + n.ingoing DESC, f.source
LIMIT 1;
