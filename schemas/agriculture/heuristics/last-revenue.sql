-- Of the crops in question, the one with the highest acre_yield * price in its last season; of
-- equals, the first by name.
SELECT h.crop
FROM harvest h
WHERE h.crop IN ($candidates)
  AND h.year = (SELECT MAX(l.year) FROM harvest l WHERE l.crop = h.crop)
ORDER BY h.acre_yield * h.price DESC, h.crop
LIMIT 1;
