-- Who has enough of it, and is quick enough.
SELECT o.supplier
FROM offer o
JOIN supplier s ON s.supplier = o.supplier
WHERE o.part = $part AND o.stock >= $pieces AND s.lead_days <= $days
ORDER BY o.supplier;
