-- Both homes; then the nodes that can be chosen, those with the most value first; then what was placed.
SELECT n.trade_node AS home, c.country_name, n.local_value, n.ingoing, n.outgoing, n.total_power,
  p.calculated_trading_power AS power_at_home, c.development
FROM country c
JOIN trade_node n ON n.trade_node = c.home_node
LEFT JOIN node_country p ON p.trade_node = n.trade_node AND p.country_name = c.country_name
WHERE c.country_name IN ($country, $rival)
ORDER BY c.country_name;

SELECT n.trade_node, n.local_value, n.ingoing, n.outgoing, n.is_inland, n.total_power,
  p.base_trading_power AS own_base_power, p.has_merchant AS own_merchant,
  r.base_trading_power AS rival_base_power, r.has_merchant AS rival_merchant,
  f.flow AS flow_to_home
FROM node_country p
JOIN trade_node n ON n.trade_node = p.trade_node
LEFT JOIN node_country r ON r.trade_node = p.trade_node AND r.country_name = $rival
LEFT JOIN flow f ON f.source = n.trade_node AND f.dest = $home
WHERE p.country_name = $country AND p.trade_node <> $home
ORDER BY n.local_value + n.ingoing DESC, n.trade_node;

SELECT number, country_name, trade_node
FROM placement
WHERE country_name IN ($country, $rival)
ORDER BY number;
