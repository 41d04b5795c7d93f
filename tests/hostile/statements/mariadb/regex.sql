-- Patterns that backtrack, or that are applied to long texts.
SELECT REGEXP_REPLACE(REPEAT('ab', 50 * 100000), '(a)(b)', '\\2\\1') = '' FROM supply;
SELECT LENGTH(REGEXP_SUBSTR(REPEAT('a', 160 * 100000), '(a|b)*c')) FROM supply a, supply b;
SELECT COUNT(*) FROM building WHERE CONCAT(REPEAT(' ', 30000), name) REGEXP '[[:space:]]+[[:space:]]+[[:space:]]+$';
