// The reports' overviews; then each crop in question with its last known season and its outlook.
MATCH (r:Report) RETURN r.title AS title, r.overview AS overview ORDER BY title;

MATCH (c:Crop)-[h:Harvest]->(s:Season)
WHERE c.name IN [$candidates]
OPTIONAL MATCH (r:Report)-[o:Outlook]->(c)
RETURN c.name AS crop, s.year AS year, h.acre_yield AS acre_yield, h.yield_unit AS yield_unit,
  h.price AS price, h.price_unit AS price_unit, o.summary AS summary
ORDER BY crop, year;
