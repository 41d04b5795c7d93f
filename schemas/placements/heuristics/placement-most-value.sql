-- Of the nodes that can be chosen and hold no merchant of the country yet, the one with the highest
-- local_value + ingoing; of equals, the first by name.
SELECT p.trade_node
FROM node_country p
JOIN trade_node n ON n.trade_node = p.trade_node
WHERE p.country_name = $country AND p.trade_node <> $home
ORDER BY p.has_merchant, n.local_value + n.ingoing DESC, p.trade_node
LIMIT 1;
