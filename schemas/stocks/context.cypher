// What is known of the market; each stock in question with what it costs now and its last known price;
// then the mean of its closing prices by month.
MATCH (m:Market) RETURN m.name AS name, m.about AS about ORDER BY name;

MATCH (s:Stock)-[:Quote]->(d:Trading_day)
WHERE s.symbol IN [$candidates] AND d.date < $buy
WITH s, max(d.date) AS last_day
MATCH (s)-[q:Quote]->(d:Trading_day)
WHERE d.date = last_day
RETURN s.symbol AS symbol, s.name AS name, s.buying_price AS buying_price, last_day,
  q.close_price AS last_price
ORDER BY symbol;

MATCH (s:Stock)-[q:Quote]->(d:Trading_day)
WHERE s.symbol IN [$candidates] AND d.date >= $since AND d.date < $buy
RETURN s.symbol AS symbol, left(d.date, 7) AS trading_month,
  round(avg(q.close_price) * 100, 0) / 100 AS mean_price
ORDER BY symbol, trading_month;
