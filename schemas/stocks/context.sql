-- What is known of the market; each stock in question with what it costs now and its last known price;
-- then the mean of its closing prices by month.
SELECT name, about FROM market ORDER BY name;

SELECT s.symbol, s.name, s.buying_price, q.date AS last_day, q.close_price AS last_price
FROM stock s
JOIN quote q ON q.symbol = s.symbol
JOIN (
  SELECT p.symbol, MAX(p.date) AS last_day FROM quote p WHERE p.date < $buy GROUP BY p.symbol
) l ON l.symbol = q.symbol AND l.last_day = q.date
WHERE s.symbol IN ($candidates)
ORDER BY s.symbol;

SELECT q.symbol, SUBSTR(q.date, 1, 7) AS trading_month,
  ROUND(AVG(q.close_price) * 100) / 100 AS mean_price
FROM quote q
WHERE q.symbol IN ($candidates) AND q.date >= $since AND q.date < $buy
GROUP BY q.symbol, SUBSTR(q.date, 1, 7)
ORDER BY q.symbol, SUBSTR(q.date, 1, 7);
