-- Little sums, very many of them, and numbers with very many digits.
SELECT sum(factorial(20)) FROM range(100000000000);
SELECT approx_quantile(random(), 0.5) FROM range(10000000000);
SELECT count(*) FROM range(100000000000) WHERE gen_random_uuid()::VARCHAR LIKE 'abc%abc';
SELECT count(DISTINCT hash(range)) FROM range(10000000000);
SELECT histogram(range) FROM range(300000000);
SELECT reservoir_quantile(range, 0.5, 100000000) FROM range(10000000000);
