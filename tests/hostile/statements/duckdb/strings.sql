-- One function of texts takes for ever, or gigabytes.
SELECT levenshtein(repeat('a', 100000), repeat('b', 100000));
SELECT damerau_levenshtein(repeat('a', 100000), repeat('b', 100000));
SELECT editdist3(repeat('ab', 100000), repeat('ba', 100000));
SELECT length(string_agg(repeat('x', 100000), repeat(',', 100000))) FROM supply a, supply b;
