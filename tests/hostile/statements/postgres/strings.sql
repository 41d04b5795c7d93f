-- One function of texts takes for ever, or gigabytes.
SELECT length(translate(repeat('a', 1000 * 100000), repeat('b', 1000000) || 'a', 'c'));
SELECT length(btrim(repeat('a', 1000 * 100000), repeat('b', 1000000) || 'a'));
SELECT length(ltrim(repeat('é', 1000 * 100000), repeat('b', 1000000) || 'é'));
SELECT length(rpad(a.goods_name, 2000 * 100000, 'é')) FROM goods a, goods b;
SELECT array_length(string_to_array(repeat('a,', 500 * 100000), ','), 1);
SELECT length(reverse(repeat('é', 2500 * 100000))) FROM supply;
SELECT length(upper(repeat('ß', 2500 * 100000))) FROM supply;
SELECT length(encode(convert_to(repeat('a', 3000 * 100000), 'UTF8'), 'base64')) FROM supply;
SELECT md5(a.level || repeat('a', 5000 * 100000)) FROM supply a;
SELECT sha512(convert_to(a.level || repeat('a', 5000 * 100000), 'UTF8')) FROM supply a;
SELECT length(quote_literal(repeat('''', 2000 * 100000))) FROM supply;
SELECT length(format('%200000000s', a.goods_name)) FROM goods a, goods b;
SELECT length(overlay(repeat('é', 2000 * 100000) PLACING 'x' FROM 1000 * 100000)) FROM supply;
SELECT length(normalize(repeat('é', 500 * 100000), NFKD));
SELECT length(string_agg(repeat('x', 100000), ',')) FROM supply a, supply b;
SELECT length(to_char(a.max_supply, repeat('9', 60000))) FROM supply a, supply b, supply c;
