// One function of texts takes for ever, or gigabytes.
MATCH (a:Building), (b:Building), (c:Building) RETURN max(levenshtein(repeat(a.name, 300), repeat(b.name, 300)));
