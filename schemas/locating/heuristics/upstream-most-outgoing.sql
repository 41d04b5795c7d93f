-- Of the nodes within three routes of the home where the country has power, the one with the highest
-- outgoing; of equals, the first by name.
WITH RECURSIVE upstream(node, routes) AS (
  SELECT f.source, 1 FROM flow f WHERE f.dest = $home
  UNION
  SELECT f.source, u.routes + 1
  FROM upstream u
  JOIN flow f ON f.dest = u.node
  WHERE u.routes < 3
)
SELECT p.trade_node
FROM upstream u
JOIN node_country p ON p.trade_node = u.node AND p.country_name = $country
JOIN trade_node n ON n.trade_node = u.node
WHERE n.total_power > 0
ORDER BY n.outgoing DESC, p.trade_node
LIMIT 1;
