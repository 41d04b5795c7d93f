-- Of the nodes with a route to the home, the one where the country's share of the power, by its
-- base_trading_power, is the most of outgoing; of equals, the first by name.
SELECT f.source
FROM flow f
JOIN trade_node n ON n.trade_node = f.source
JOIN node_country p ON p.trade_node = f.source AND p.country_name = $country
WHERE f.dest = $home AND n.total_power > 0
ORDER BY p.base_trading_power * n.outgoing / n.total_power DESC, f.source
LIMIT 1;
