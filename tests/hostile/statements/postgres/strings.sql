-- One function of texts takes for ever, or gigabytes.
SELECT length(format('%200000000s', a.goods_name)) FROM goods a, goods b;
SELECT length(string_agg(repeat('x', 100000), ',')) FROM supply a, supply b;
SELECT length(to_char(a.max_supply, repeat('9', 60000))) FROM supply a, supply b, supply c;
