-- Long lists, maps and JSON.
SELECT JSON_LENGTH(CONCAT('[', REPEAT('1,', 70 * 100000), '1]')) FROM supply a, supply b;
SELECT JSON_SEARCH(CONCAT('[', REPEAT('"a",', 30 * 100000), '"b"]'), 'all', '%b%') FROM supply a, supply b;
