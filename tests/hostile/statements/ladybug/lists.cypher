// Long lists, maps and JSON.
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN DISTINCT a * b;
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN collect(a * b);
UNWIND range(1, 1000) AS i RETURN collect(range(1, 1000000));
UNWIND range(1, 1000) AS i RETURN i, range(1, 1000000) ORDER BY i DESC;
RETURN size(list_filter(range(1, 1000000), x -> list_contains(range(1, 1000000), x)));
RETURN list_reduce(list_transform(range(1, 3000), x -> range(1, 3000)), (a, b) -> list_concat(a, b));
RETURN size(list_distinct(list_transform(range(1, 1000000), x -> repeat('a', 1000) + to_string(x))));
RETURN size(list_sort(list_transform(range(1, 1000000), x -> repeat(to_string(x), 300))));
RETURN size(list_to_string(repeat(',', 10000), range(1, 1000000)));
RETURN size(list_transform(range(1, 1000000), x -> repeat('a', 10000)));
UNWIND range(1, 1000000) AS x RETURN size(collect(repeat('a', 10000) + to_string(x)));
UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN x, y ORDER BY x * y DESC;
RETURN list_has_all(range(1, 1000000), range(2, 1000000));
RETURN size(list_transform(range(1, 1000000), x -> map(range(1, 100), range(1, 100))));
RETURN list_any_value(list_transform(range(1, 30), x -> list_transform(range(1, 1000000), y -> repeat('z', 100))));
RETURN size(list_filter(range(1, 1000000), x -> levenshtein(repeat('a', 1000), to_string(x)) < 3));
UNWIND range(1, 1000000) AS x WITH collect(x) AS l UNWIND l AS y UNWIND l AS z RETURN sum(y * z);
UNWIND range(1, 1000000) AS x UNWIND range(1, 100) AS y RETURN histogram(x), count(y);
