// Refused for the length of what it would build.
UNWIND range(1, 1000) AS i RETURN collect(range(1, 1000000));
UNWIND range(1, 1000000) AS x RETURN size(collect(repeat('a', 10000) + to_string(x)));
