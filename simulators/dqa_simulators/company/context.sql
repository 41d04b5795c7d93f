SELECT i.item, i.site, i.closing AS stock,
  (SELECT COALESCE(SUM(o.quantity), 0) FROM orders o
   WHERE o.item = i.item AND o.site = i.site AND o.arrival_period IS NULL) AS units_on_order,
  (SELECT SUM(s.units) FROM sales s
   WHERE s.item = i.item AND s.site = i.site AND s.ref_period = i.period) AS sold,
  (SELECT SUM(s.units) / 8.0 FROM sales s WHERE s.item = i.item AND s.site = i.site
   AND s.ref_period > i.period - 8) AS mean_sold_in_8_periods
FROM inventory i WHERE i.period = (SELECT MAX(period) FROM ledger);
SELECT i.*, p.level, p.price, p.competitor_price FROM items i JOIN prices p ON p.item = i.item
WHERE p.period = (SELECT MAX(period) FROM ledger);
SELECT f.*, AVG(o.arrival_period - o.period) AS mean_lead,
  SUM(o.good_units) * 1.0 / SUM(o.quantity) AS usable_share
FROM offers f LEFT JOIN orders o ON o.item = f.item AND o.supplier = f.supplier
  AND o.arrival_period IS NOT NULL
GROUP BY f.item, f.supplier, f.list_price, f.promised_lead, f.is_default;
SELECT * FROM sites;
SELECT * FROM forecasts WHERE period > (SELECT MAX(period) FROM ledger);
SELECT * FROM promotions WHERE period > (SELECT MAX(period) FROM ledger) - 2;
SELECT * FROM memos;
SELECT * FROM ledger ORDER BY period DESC LIMIT 4;
