-- The goods in question; the buildings that make them, with the mean share of their inputs that is
-- met (rule 6); what those buildings need, with its supply and demand; and who makes that.
SELECT g.goods_name, g.base_price, g.current_price, g.pop_demand,
  (SELECT COALESCE(SUM(d.max_demand), 0) FROM demand d WHERE d.goods_id = g.code)
    AS buildings_demand,
  (SELECT COALESCE(SUM(s.current_output), 0) FROM supply s WHERE s.goods_id = g.code)
    AS total_supply
FROM goods g
WHERE g.goods_name = $goods;

SELECT b.id, b.name, b.level, s.max_supply, s.current_output, COUNT(d.goods_id) AS inputs,
  AVG(CASE WHEN d.current_input < d.max_demand THEN d.current_input / d.max_demand
    WHEN d.goods_id IS NOT NULL THEN 1.0 END) AS inputs_met
FROM supply s
JOIN goods g ON g.code = s.goods_id
JOIN building b ON b.id = s.building_id
LEFT JOIN demand d ON d.building_id = b.id
WHERE g.goods_name = $goods
GROUP BY b.id, b.name, b.level, s.max_supply, s.current_output
ORDER BY s.max_supply DESC, b.id;

SELECT d.building_id AS id, n.goods_name AS needs, d.max_demand, d.current_input,
  n.pop_demand + (SELECT SUM(a.max_demand) FROM demand a WHERE a.goods_id = n.code)
    AS demand_of_input,
  (SELECT COALESCE(SUM(a.current_output), 0) FROM supply a WHERE a.goods_id = n.code)
    AS supply_of_input
FROM supply s
JOIN goods g ON g.code = s.goods_id
JOIN demand d ON d.building_id = s.building_id
JOIN goods n ON n.code = d.goods_id
WHERE g.goods_name = $goods
ORDER BY d.building_id, n.goods_name;

SELECT b.id, b.name, b.level, n.goods_name AS makes_input, s.max_supply, s.current_output,
  (SELECT COUNT(*) FROM demand a WHERE a.building_id = b.id) AS inputs
FROM supply s
JOIN building b ON b.id = s.building_id
JOIN goods n ON n.code = s.goods_id
WHERE s.goods_id IN (
  SELECT d.goods_id
  FROM demand d
  JOIN supply m ON m.building_id = d.building_id
  JOIN goods g ON g.code = m.goods_id
  WHERE g.goods_name = $goods
)
ORDER BY s.max_supply DESC, b.id, n.goods_name;
