-- The home; then each node that can be chosen, those with the most value first.
SELECT n.trade_node AS home, n.local_value, n.ingoing, n.outgoing, n.total_power,
  p.calculated_trading_power AS own_power, c.development
FROM trade_node n
JOIN country c ON c.country_name = $country
LEFT JOIN node_country p ON p.trade_node = n.trade_node AND p.country_name = c.country_name
WHERE n.trade_node = $home;

SELECT n.trade_node, n.local_value, n.ingoing, n.outgoing, n.is_inland, n.total_power,
  p.base_trading_power AS own_base_power, f.flow AS flow_to_home
FROM trade_node n
LEFT JOIN node_country p ON p.trade_node = n.trade_node AND p.country_name = $country
LEFT JOIN flow f ON f.source = n.trade_node AND f.dest = $home
WHERE n.trade_node <> $home
ORDER BY n.local_value + n.ingoing DESC, n.trade_node;
