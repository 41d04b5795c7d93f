-- Patterns that backtrack, or that are applied to long texts.
SELECT regexp_replace(repeat('ab', 1000 * 100000), '(a)(b)', '\2\1', 'g') = '';
SELECT count(*) FROM regexp_split_to_table(repeat('a1', 500 * 100000), '[0-9]');
SELECT count(*) FROM regexp_matches(repeat('ab', 200 * 100000), '(a)(b)', 'g');
