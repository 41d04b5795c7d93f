-- Of the nodes that can be chosen and hold no merchant of the country yet, the one where it has the
-- highest base_trading_power; of equals, the first by name.
SELECT p.trade_node
FROM node_country p
WHERE p.country_name = $country AND p.trade_node <> $home
ORDER BY p.has_merchant, p.base_trading_power DESC, p.trade_node
LIMIT 1;
