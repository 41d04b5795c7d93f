SELECT "plant name", (revenue - cost) / "lines" AS lost FROM plant
WHERE "plant name" IN ($candidates);
