-- Patterns that backtrack, or that are applied to long texts.
SELECT length(regexp_replace(repeat('ab', 1000 * 100000), '(a)(b)', '\2\1', 'g'));
SELECT len(regexp_extract_all(repeat('ab', 1000 * 100000), 'a'));
SELECT len(regexp_split_to_array(repeat('a1', 1000 * 100000), '[0-9]'));
