// Every row with every row, sorted, grouped, aggregated.
MATCH (a:Goods), (b:Goods), (c:Goods), (d:Goods), (e:Goods) WHERE a.base_price + b.base_price < c.base_price + d.base_price + e.base_price RETURN count(*);
MATCH (a:Building), (b:Building), (c:Building), (d:Building) RETURN a.name, b.name, c.name, d.name ORDER BY a.id * b.id * c.id * d.id DESC;
MATCH (a:Building), (b:Building), (c:Building), (d:Building) RETURN DISTINCT a.id + b.id * 100 + c.id * 10000 + d.id * 1000000;
MATCH (a:Building), (b:Building), (c:Building), (d:Building) WITH collect([a, b, c, d]) AS l RETURN size(l);
MATCH (a), (b), (c) WHERE NOT EXISTS { MATCH (d), (e) WHERE d.code = a.id AND e.id = b.code AND d = e AND c = d } RETURN count(*);
MATCH (a:Goods) RETURN a.name, COUNT { MATCH (b), (c), (d), (e) WHERE b.id <> c.id };
MATCH (a:Goods), (b:Goods) RETURN COLLECT { MATCH (c:Building), (d:Building), (e:Building) RETURN c.name + d.name + e.name + a.name };
MATCH (a:Goods) OPTIONAL MATCH (b:Building) OPTIONAL MATCH (c:Building) OPTIONAL MATCH (d:Building) OPTIONAL MATCH (e:Building) RETURN count(*), count(DISTINCT a.code + b.id + c.id + d.id + e.id);
MATCH (a), (b), (c), (d) RETURN a, b, c, d, properties(a), properties(b), keys(c), labels(d) ORDER BY rand();
