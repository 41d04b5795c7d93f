// Patterns that backtrack, or that are applied to long texts.
RETURN size(regexp_extract_all(repeat('ab', 50000000), 'a'));
RETURN size(regexp_split_to_array(repeat('a1', 50000000), '[0-9]'));
