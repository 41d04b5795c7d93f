// Every row with every row, sorted, grouped, aggregated.
MATCH (a), (b), (c), (d), (e) RETURN count(a.name + b.name + c.name + d.name + e.name);
MATCH (a:Building), (b:Building), (c:Building), (d:Building) RETURN a.name, b.name, c.name, d.name ORDER BY a.id * b.id * c.id * d.id DESC;
MATCH (a:Building), (b:Building), (c:Building), (d:Building), (e:Building) RETURN DISTINCT a.id + b.id * 100 + c.id * 10000 + d.id * 1000000;
MATCH (a:Building), (b:Building), (c:Building), (d:Building) RETURN collect(a.name + b.name + c.name + d.name);
MATCH (a:Goods), (b:Building), (c:Building), (d:Building), (e:Goods) RETURN sum(a.base_price * b.level * c.level * d.level * e.base_price);
MATCH (a), (b), (c), (d) RETURN a, b, c, d;
MATCH (a), (b), (c) RETURN collect(a), collect(b), collect(c), repeat('x', 1000000) + to_string(count(*));
MATCH (a:Building), (b:Building), (c:Building), (d:Building) RETURN a.id, count(DISTINCT b.id * c.id * d.id);
MATCH (a:Building), (b:Building) RETURN repeat(a.name, 1000000), repeat(b.name, 1000000);
MATCH (a:Building), (b:Building) RETURN repeat(a.name, 1000000) + repeat(b.name, 100000) AS big ORDER BY big;
