-- One function of texts takes for ever, or gigabytes.
SELECT MAX(LENGTH(FORMAT(CONCAT(a.level, REPEAT('9', 80)), 30))) FROM supply a, supply b, supply c, supply d;
