-- One function of texts takes for ever, or gigabytes.
SELECT length(string_agg(repeat('x', 100000), ',')) FROM supply a, supply b;
SELECT length(to_char(a.max_supply, repeat('9', 60000))) FROM supply a, supply b, supply c;
