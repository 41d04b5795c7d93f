// Little sums, very many of them, and numbers with very many digits.
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000) AS b RETURN max(duration.between(date('2000-01-01'), date('2000-01-01') + duration({days: a + b})));
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000) AS b WITH datetime({epochSeconds: a * b}) AS d RETURN d.year, d.week, collect(toString(d));
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000) AS b RETURN max(point.distance(point({longitude: a % 180, latitude: 1}), point({longitude: b % 180, latitude: 2})));
