-- Refused, and not with an exception of the parser's: it stumbles over these, in translation too.
SELECT month(), day(), hour(), date(), quarter(), week();
SELECT min(), max(), sum(), if(), cast();
SELECT extract(), substring(), trim(), position();
-- Refused for the length of what it would build.
SELECT repeat('a', 100 * 100000) || a.goods_id, repeat('b', 100 * 100000) || b.goods_id FROM supply a, supply b;
SELECT length(regexp_replace(repeat('ab', 1000 * 100000), '(a)(b)', '\2\1', 'g'));
SELECT len(regexp_extract_all(repeat('ab', 1000 * 100000), 'a'));
SELECT len(regexp_split_to_array(repeat('a1', 1000 * 100000), '[0-9]'));
SELECT length(translate(repeat('abc', 1000 * 100000), 'abc', 'xyz'));
SELECT length(lpad('a', 20000 * 100000, 'bc'));
SELECT length(rpad('a', 15000 * 100000, 'é'));
SELECT jaccard(repeat('ab', 5000 * 100000), repeat('cd', 5000 * 100000));
SELECT hamming(repeat('ab', 10000 * 100000), repeat('cd', 10000 * 100000));
SELECT length(replace(repeat('a', 5000 * 100000), 'a', 'bbbb'));
SELECT instr(repeat('a', 2000 * 100000), repeat('a', 1000 * 100000) || 'b');
SELECT length(reverse(repeat('é', 5000 * 100000)));
SELECT length(upper(repeat('ß', 10000 * 100000)));
SELECT length(strip_accents(repeat('é', 3000 * 100000)));
SELECT length(nfc_normalize(repeat('é', 2000 * 100000)));
SELECT length_grapheme(repeat('é', 5000 * 100000));
SELECT length(url_encode(repeat('é', 5000 * 100000)));
SELECT length(to_base64(encode(repeat('a', 10000 * 100000))));
SELECT length(hex(repeat('a', 10000 * 100000)));
SELECT length(bin(repeat('a', 5000 * 100000)));
SELECT len(string_split(repeat('a,', 3000 * 100000), ','));
SELECT left_grapheme(repeat('🤦🏼‍♂️', 500 * 100000), 400 * 100000) = 'x';
SELECT substring_grapheme(repeat('é', 3000 * 100000), 2000 * 100000, 5);
