-- Long lists, maps and JSON.
SELECT array_length(array_fill(1, ARRAY[130000000]), 1);
SELECT array_agg(x) FROM generate_series(1, 130000000) x;
SELECT sum(x) FROM generate_series(1, 10000000000) x;
SELECT count(*) FROM unnest(array_fill(1, ARRAY[50000000])) a, unnest(array_fill(1, ARRAY[100])) b;
SELECT array_to_string(array_fill(1, ARRAY[100000000]), ',') = '';
SELECT array_remove(array_fill(1, ARRAY[100000000]), 2) = '{}' FROM supply;
SELECT array_replace(array_fill(1, ARRAY[100000000]), 1, 2) = '{}' FROM supply;
SELECT array_fill(1, ARRAY[100000]) @> array_fill(2, ARRAY[100000]), array_fill(1, ARRAY[200000]) && array_fill(2, ARRAY[200000]);
SELECT array_fill(1, ARRAY[300000]) <@ (array_fill(2, ARRAY[300000]) || 1);
SELECT jsonb_agg(x) FROM generate_series(1, 20000000) x;
SELECT jsonb_object_agg(x, x) FROM generate_series(1, 10000000) x;
SELECT json_agg(repeat('a', 100000)) FROM supply a, supply b GROUP BY a.goods_id;
SELECT jsonb_array_length(('[' || repeat('1,', 500 * 100000) || '1]')::jsonb);
SELECT jsonb_path_query_array(to_jsonb(array_fill(1, ARRAY[3000])), '$[*] ? (@ == $x[*])', jsonb_build_object('x', to_jsonb(array_fill(2, ARRAY[3000])))) FROM supply;
SELECT jsonb_path_exists(to_jsonb(array_fill(1, ARRAY[2000000])), '$[*] ? (@.double() > 3 && @.double() like_regex "x")') FROM supply;
SELECT jsonb_set(to_jsonb(array_fill(1, ARRAY[3000000])), '{2}', '3') = '1' FROM supply;
SELECT jsonb_pretty(to_jsonb(array_fill(1, ARRAY[5000000]))) = '' FROM supply;
