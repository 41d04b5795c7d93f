SELECT o.supplier, o.unit_price, o.stock, s.lead_days, s.shipping
FROM offer o
JOIN supplier s ON s.supplier = o.supplier
WHERE o.part = $part AND o.supplier IN ($candidates)
ORDER BY o.supplier;
