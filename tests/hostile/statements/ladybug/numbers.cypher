// Little sums, very many of them, and numbers with very many digits.
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN sum(sin(a) * cos(b) + sqrt(a * b) + random());
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000) AS b RETURN count(DISTINCT gen_random_uuid());
UNWIND range(1, 1000000) AS a UNWIND range(1, 10000) AS b RETURN max(gamma(to_double(a % 100)) + lgamma(b) + cbrt(a) + factorial(a % 20));
