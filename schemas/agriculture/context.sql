-- The reports' overviews; then each crop in question with its last known season and its outlook.
SELECT title, overview FROM report ORDER BY title;

SELECT h.crop, h.year, h.acre_yield, h.yield_unit, h.price, h.price_unit, o.summary
FROM harvest h
LEFT JOIN outlook o ON o.crop = h.crop
WHERE h.crop IN ($candidates)
ORDER BY h.crop, h.year;
