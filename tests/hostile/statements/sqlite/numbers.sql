-- Little sums, very many of them, and numbers with very many digits.
SELECT sum(length(printf('%15000000d', a.level))) FROM supply a, supply b, supply c;
SELECT count(printf('%!.300f%!.300f%!.300f%!.300f', a.max_supply, b.max_supply, a.current_output, b.current_output)) FROM supply a, supply b, supply c, supply d;
SELECT sum(exp(ln(abs(sin(cos(tan(a.max_supply + b.max_supply + c.max_supply + d.max_supply))))))) FROM supply a, supply b, supply c, supply d;
SELECT count(strftime('%Y-%m-%d %H:%M:%f %J %s', a.goods_id + b.goods_id, 'unixepoch', '+1 month', 'weekday 3', 'start of year')) FROM supply a, supply b, supply c, supply d;
SELECT count(DISTINCT random()) FROM supply a, supply b, supply c, supply d;
SELECT a.id, b.id, random() AS r FROM building a, building b, building c, building d ORDER BY r;
SELECT avg(julianday(date('now', '-' || (a.id * b.id * c.id) || ' seconds'))) FROM building a, building b, building c, building d;
