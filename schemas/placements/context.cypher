// Both homes; then the nodes that can be chosen, those with the most value first; then what was placed.
MATCH (c:Country)
WHERE c.name IN [$country, $rival]
MATCH (n:Trade_node {name: c.home_node})
OPTIONAL MATCH (c)-[p:NodeCountry]->(n)
RETURN n.name AS home, c.name AS country_name, n.local_value AS local_value, n.ingoing AS ingoing,
  n.outgoing AS outgoing, n.total_power AS total_power,
  p.calculated_trading_power AS power_at_home, c.development AS development
ORDER BY country_name;

MATCH (c:Country {name: $country})-[p:NodeCountry]->(n:Trade_node)
WHERE n.name <> $home
OPTIONAL MATCH (r:Country {name: $rival})-[q:NodeCountry]->(n)
OPTIONAL MATCH (n)-[f:source]->(h:Trade_node {name: $home})
WITH n, p, q, f, n.local_value + n.ingoing AS present
RETURN n.name AS trade_node, n.local_value AS local_value, n.ingoing AS ingoing,
  n.outgoing AS outgoing, n.is_inland AS is_inland, n.total_power AS total_power,
  p.base_trading_power AS own_base_power, p.has_merchant AS own_merchant,
  q.base_trading_power AS rival_base_power, q.has_merchant AS rival_merchant,
  f.flow AS flow_to_home
ORDER BY present DESC, trade_node;

MATCH (p:Placement)
WHERE p.country IN [$country, $rival]
RETURN p.number AS number, p.country AS country_name, p.trade_node AS trade_node
ORDER BY number;
