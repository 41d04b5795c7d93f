-- Every row with every row, sorted, grouped, aggregated.
SELECT count(*) FROM supply a, supply b, supply c, supply d, supply e, supply f WHERE a.level + b.level + c.level <> d.level + e.level + f.level;
SELECT DISTINCT a.max_supply * b.max_supply * c.max_supply * d.max_supply FROM supply a, supply b, supply c, supply d;
SELECT a.goods_name, quantile_cont(b.base_price * c.base_price * d.base_price * e.base_price, 0.5) FROM goods a, goods b, goods c, goods d, goods e, supply f GROUP BY a.goods_name;
SELECT repeat('a', 1000000) || a.goods_id || b.goods_id AS x FROM supply a, supply b ORDER BY x;
SELECT rank() OVER (PARTITION BY a.level ORDER BY b.max_supply * c.max_supply * d.max_supply) FROM supply a, supply b, supply c, supply d;
SELECT list(a.level * b.level * c.level * d.level) FROM supply a, supply b, supply c, supply d;
SELECT string_agg(DISTINCT a.max_supply || b.max_supply || c.max_supply || d.max_supply) FROM supply a, supply b, supply c, supply d;
SELECT * FROM (FROM range(5000000000)) ORDER BY hash(range) DESC;
SELECT count(*) FROM range(1000000) a(x) JOIN range(1000000) b(y) ON x < y;
SELECT count(*) FROM range(100000) a(x) JOIN range(100000) b(y) ON levenshtein(x::VARCHAR, y::VARCHAR) < 1;
