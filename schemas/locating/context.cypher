// The home; then each node that can be chosen, those with the most value first.
MATCH (n:Trade_node {name: $home}), (c:Country {name: $country})
OPTIONAL MATCH (c)-[p:NodeCountry]->(n)
RETURN n.name AS home, n.local_value AS local_value, n.ingoing AS ingoing, n.outgoing AS outgoing,
  n.total_power AS total_power, p.calculated_trading_power AS own_power,
  c.development AS development;

MATCH (n:Trade_node)
WHERE n.name <> $home
OPTIONAL MATCH (c:Country {name: $country})-[p:NodeCountry]->(n)
OPTIONAL MATCH (n)-[f:source]->(h:Trade_node {name: $home})
WITH n, n.local_value + n.ingoing AS present, p.base_trading_power AS own_base_power,
  f.flow AS flow_to_home
RETURN n.name AS trade_node, n.local_value AS local_value, n.ingoing AS ingoing,
  n.outgoing AS outgoing, n.is_inland AS is_inland, n.total_power AS total_power,
  own_base_power, flow_to_home
ORDER BY present DESC, trade_node;
