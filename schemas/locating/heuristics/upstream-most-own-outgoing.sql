-- Of the nodes within three routes of the home where the country has power, the one where its share
-- of the power, by its base_trading_power, is the most of outgoing; of equals, the first by name.
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
ORDER BY p.base_trading_power * n.outgoing / n.total_power DESC, p.trade_node
LIMIT 1;
