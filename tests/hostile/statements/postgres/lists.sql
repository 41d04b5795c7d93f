-- Long lists, maps and JSON.
SELECT array_agg(x) FROM generate_series(1, 130000000) x;
SELECT sum(x) FROM generate_series(1, 10000000000) x;
SELECT jsonb_agg(x) FROM generate_series(1, 20000000) x;
SELECT jsonb_object_agg(x, x) FROM generate_series(1, 10000000) x;
SELECT json_agg(repeat('a', 100000)) FROM supply a, supply b GROUP BY a.goods_id;
SELECT jsonb_path_query_array(to_jsonb(array_fill(1, ARRAY[3000])), '$[*] ? (@ == $x[*])', jsonb_build_object('x', to_jsonb(array_fill(2, ARRAY[3000])))) FROM supply;
