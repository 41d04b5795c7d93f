-- Little sums, very many of them, and numbers with very many digits.
SELECT exp(5000.5::numeric(1000, 400)), ln((10::numeric ^ 100000)), log(3.3::numeric(1000, 900), 2.2::numeric(1000, 900)) FROM supply a, supply b, supply c;
SELECT sqrt(2::numeric(1000, 990)) ^ 1000 FROM supply a, supply b, supply c;
SELECT div(10::numeric ^ 130000, 7::numeric ^ 60000), mod(10::numeric ^ 130000, 7::numeric ^ 60000) FROM supply a, supply b;
SELECT sum(length(to_char(timestamp '2000-01-01' + n * interval '1 second', 'Day Month YYYY HH24:MI:SS'))) FROM generate_series(1, 1000000000) n;
SELECT count(DISTINCT gen_random_uuid()) FROM generate_series(1, 1000000000);
