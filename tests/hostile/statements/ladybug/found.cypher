// the process ended with -11
MATCH p = (n:Goods)-[r]-(m) WITH n, r, p, m LIMIT 3 RETURN map(NULL, [1, 2, 3]);
// the process ended with -11
RETURN list_reverse_sort(NULL);
// the process ended with -11
RETURN nodes(x -> x + 1);
// untranslated: OverflowError: Python int too large to convert to C int
RETURN duration(to_months(2147483647));
// untranslated: TypeError: unhashable type: 'list'
MATCH p = (n:Goods)-[r]-(m) WITH n, r, p, m LIMIT 3 RETURN map([[1], [], NULL], ['a', NULL, '']);
// untranslated: OverflowError: Python int too large to convert to C int
RETURN CAST(to_months(2147483647) AS INTERVAL);
// untranslated: RuntimeError: Unsupported type: UINT128
RETURN to_uint128(0);
// untranslated: OverflowError: Python int too large to convert to C int
RETURN to_interval(to_months(2147483647));
// untranslated: RuntimeError: Unsupported type: UINT128
RETURN to_uint128(2147483647);
// untranslated: RuntimeError: Unsupported type: UINT128
RETURN CAST(7 AS UINT128);
