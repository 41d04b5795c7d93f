SELECT o.supplier, $pieces * o.unit_price + s.shipping AS bill
FROM offer o
JOIN supplier s ON s.supplier = o.supplier
WHERE o.part = $part AND o.supplier IN ($candidates);
