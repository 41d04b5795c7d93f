-- Patterns that backtrack, or that are applied to long texts.
SELECT COUNT(*) FROM building WHERE CONCAT(REPEAT(' ', 30000), name) REGEXP '[[:space:]]+[[:space:]]+[[:space:]]+$';
