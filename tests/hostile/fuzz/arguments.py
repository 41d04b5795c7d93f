"""Odd values, as each engine writes them: by the kind of type that they are of."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["COLUMNS", "TYPES", "VALUES", "kind_of"]

_INTEGERS = (
    *("0", "1", "-1", "2", "7", "64", "255", "-32769", "2147483647", "-2147483648", "4294967296"),
    *("9223372036854775807", "-9223372036854775807", "1000000"),
)
_HUGE = (
    *("18446744073709551615", "340282366920938463463374607431768211455", "1e308", "-1e308", "5e-324"),
    *("0.1", "-0.0", "1e-10", "99999999999999999999999999999999999999.5", "3.5", "1e999"),
)
_WORDS = (
    *("", "a", " ", "abc", "é", "🤦🏼‍♂️", "ﷺ", "%", "%s%n%d", "%5$*1$s", "_", "*", "[", "[a-", "(", "\\"),
    *("NaN", "Infinity", "-1", "1e999", "0x41", "null", "true", "UTF8", "base64", "sha256", "C"),
    *("(a+)+$", "(.*)*b", "a{1,900}", "(?i)(?<x>a)", "$", "$.a[*]", "$..*", "$[", "{\"a\": [1, {}]}"),
    *("[1, [2, [3]], null]", "{", "\"\\ud800\"", "[" * 200, "2024-02-30", "0000-00-00", "2024-01-01"),
    *("9999-12-31 23:59:59.999999", "-4713-01-01", "294277-01-01", "25:61:61", "12:00", "P1Y2M", "1 day"),
    *("-178000000 years", "year", "fortnight", "dow", "epoch", "UTC", "Mars/Olympus", "+99:99", "now"),
    *("+1 month", "127.0.0.1/33", "::1", "POINT(1 1)", "<a><b/></a>", "//b[1]", "a & !b | c:*", "{1,2,3}"),
    *("{{1},{2,3}}", "[1,5)", "empty", "(1,2)", "((0,0),(1,1))", "101", "\\x00ff", "%Y-%q-%%-%", "YYYY-Q-FF"),
    *("ab" * 40, "a" * 999, "z" * 5000, "1" * 400, "a,b,,c", "0/0", "goods", "public.goods", "integer"),
)


def _quoted(*, backslash: bool) -> tuple[str, ...]:
    """Return the words as texts of SQL, or of an engine in which a backslash begins an escape."""
    escaped = (word.replace("\\", "\\\\") if backslash else word for word in _WORDS)
    return tuple("'" + (word.replace("'", "\\'" if backslash else "''")) + "'" for word in escaped)


_TEXTS = _quoted(backslash=False)
_ESCAPED = _quoted(backslash=True)
_COMMON = {"null": ("NULL",), "integer": _INTEGERS, "number": _HUGE, "boolean": ("TRUE", "FALSE")}

VALUES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "sqlite": {
        **_COMMON,
        "text": (*_TEXTS, "printf('%.*c', 200000, 'a')", "CAST(x'ff00c3' AS TEXT)", "char(0, 65, 55296)"),
        "bytes": ("x''", "x'00'", "x'ff00c3'", "CAST('abc' AS BLOB)"),
        "date": ("date('now')", "'-4713-11-24'", "5373485", "-1e17"),
        "json": ("json('[1,{\"a\":2}]')", "json_array(NULL, 1e400)", "json_object('a', json('[]'))"),
    },
    "duckdb": {
        **_COMMON,
        "number": (*_HUGE, "'nan'::DOUBLE", "'-infinity'::DOUBLE", "1e38::FLOAT", "0.1::DECIMAL(38, 38)"),
        "integer": (*_INTEGERS, "(-128)::TINYINT", "170141183460469231731687303715884105727::HUGEINT"),
        "text": (*_TEXTS, "repeat('ab', 50000)", "chr(0)", "repeat('é', 3000)"),
        "bytes": ("''::BLOB", "'\\xFF\\x00'::BLOB", "'1010'::BIT", "bitstring('1', 100)"),
        "date": (
            *("DATE '2024-02-29'", "'infinity'::DATE", "'-infinity'::TIMESTAMP", "DATE '0001-01-01'"),
            *("TIMESTAMP '294247-01-10 04:00:54.775806'", "'290309-12-22 (BC) 00:00:00'::TIMESTAMP"),
            *("TIME '24:00:00'", "'12:00:00+15:59:59'::TIMETZ", "TIMESTAMPTZ '2024-01-01 00:00:00+00'"),
            *("'5877642-06-25 (BC)'::DATE", "'2000-01-01'::TIMESTAMP_NS"),
        ),
        "interval": (
            *("INTERVAL 1 DAY", "INTERVAL '-178956970 years'", "INTERVAL 9223372036854775807 MICROSECONDS"),
            *("INTERVAL 0 SECONDS", "to_months(2147483647)"),
        ),
        "list": (
            *("[]", "[NULL]", "[1, 2, 3]", "['a', NULL, '']", "[[1], [], NULL]", "range(2000)", "[1, 2, 3]::INT[3]"),
            *("['nan'::FLOAT, 1]", "[{'a': 1}, NULL]", "list_value()", "[[[[[[[[1]]]]]]]]", "[1.5, 2.5, 3.5]::FLOAT[3]"),
        ),
        "map": (
            *("MAP {}", "MAP {'a': 1, 'b': NULL}", "MAP {[1]: {'x': []}}", "{'a': 1, 'b': [1]}", "ROW(1, NULL)"),
            "{'a': NULL}",
        ),
        "json": ("'{\"a\": [1, null]}'::JSON", "'[]'::JSON", "to_json(range(100))", "'1e400'::JSON"),
        "other": (
            *("uuid()", "'00000000-0000-0000-0000-000000000000'::UUID", "union_value(k := 1)", "x -> x + 1"),
            *("'a'::ENUM('a', 'b')", "(x, y) -> y", "lambda x: x", "x -> NULL", "lambda x, i: i"),
        ),
    },
    "mariadb": {
        **_COMMON,
        "text": (*_ESCAPED, "REPEAT('ab', 50000)", "CHAR(0)", "_utf8mb4 'é' COLLATE utf8mb4_bin", "SPACE(1000)"),
        "bytes": ("X''", "X'FF00C3'", "BINARY 'a'", "CHAR(255 USING binary)", "b'101'", "COMPRESS('abc')"),
        "date": (
            *("DATE '2024-02-29'", "TIMESTAMP '9999-12-31 23:59:59'", "TIME '838:59:59'", "CURDATE()"),
            *("'0000-00-00'", "20240230", "TIME '-838:59:59.999999'", "UTC_TIMESTAMP(6)"),
        ),
        "json": ("JSON_ARRAY(1, NULL, JSON_OBJECT())", "JSON_OBJECT('a', JSON_ARRAY(1))", "'[1, {\"a\": 2}]'"),
        "other": (
            *("POINT(1, 1)", "ST_GeomFromText('POLYGON((0 0, 1 0, 1 1, 0 0))')", "POINT(1e308, -1e308)"),
            *("ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')", "(SELECT NULL)", "UUID()"),
        ),
    },
    "postgres": {
        **_COMMON,
        "number": (*_HUGE, "'NaN'::numeric", "'Infinity'::float8", "'-Infinity'::numeric", "1e130000", "0.5::real"),
        "integer": (*_INTEGERS, "(-32768)::smallint", "1::bigint", "5::oid"),
        "text": (*_TEXTS, "repeat('ab', 50000)", "'a'::char", "'x'::name", "E'\\uFFFF'", "chr(1114111)"),
        "bytes": ("'\\x'::bytea", "'\\xff00'::bytea", "B'101'", "B''", "'101'::varbit"),
        "date": (
            *("'infinity'::date", "'-infinity'::timestamp", "'4713-01-01 BC'::date", "'294276-12-31'::timestamp"),
            *("'2024-02-29'::date", "'24:00'::time", "'00:00+15:59'::timetz", "'2024-01-01'::timestamptz"),
            "'5874897-12-31'::date",
        ),
        "interval": (
            *("'1 day'::interval", "'-178000000 years'::interval", "'2562047788 hours'::interval", "'0'::interval"),
            "make_interval(secs => 1e12)",
        ),
        "list": (
            *("ARRAY[]::int[]", "ARRAY[1, NULL, 3]", "ARRAY['a', NULL]", "'[-5:-3]={1,2,3}'::int[]", "ARRAY[[1], [2]]"),
            *("array_fill(1, ARRAY[1000])", "ARRAY['a']::text[]", "ARRAY[0.1]::float8[]", "'{}'::text[]"),
        ),
        "json": (
            *("'{\"a\": [1, null]}'::jsonb", "'[]'::json", "'null'::jsonb", "'1e400'::jsonb", "'$.a[*] ? (@ > 1)'::jsonpath"),
            "to_jsonb(ARRAY[1, 2])",
        ),
        "map": ("ROW(1, NULL)", "ROW('a', ARRAY[1])", "int4range(1, 5)", "'empty'::int8range", "'{[1,2)}'::int4multirange"),
        "other": (
            *("'a & !b'::tsquery", "'a:1A b:2'::tsvector", "'<a>x</a>'::xml", "point(1, 'NaN')", "'(1,1),(0,0)'::box"),
            *("'::ffff:1.2.3.4/128'::inet", "'08:00:2b:01:02:03'::macaddr", "gen_random_uuid()", "'[(0,0),(1,1)]'::path"),
            *("circle(point(0, 0), -1)", "'{1,-1,0}'::line", "'goods'::regclass", "'simple'::regconfig", "'0/0'::pg_lsn"),
            *("'<a'::xml", "'1'::xid", "'1:1:'::txid_snapshot", "'C'", "'aa:bb'::aclitem", "'$'::jsonpath"),
        ),
    },
    "neo4j": {
        **_COMMON,
        "number": ("1e308", "-1e308", "5e-324", "0.1", "-0.0", "0.0/0.0", "1.0/0.0", "-1.0/0.0"),
        "text": (*_ESCAPED, "reduce(s = '', x IN range(1, 2000) | s + 'ab')"),
        "date": (
            *("date('2024-02-29')", "date({year: 999999999, month: 12, day: 31})", "datetime('2024-01-01T00:00Z')"),
            *("localtime('12:00')", "time('24:00')", "localdatetime({year: -999999999})", "datetime({epochSeconds: 0})"),
            *("date({year: 2024, month: 13})", "datetime({year: 2024, timezone: 'Mars/Olympus'})", "time('12:00+18:00')"),
        ),
        "interval": (
            *("duration('P1Y2M3DT4H')", "duration({days: 9223372036854775807})", "duration({months: -1, seconds: 0.5})"),
            "duration('PT-0.999999999S')",
        ),
        "list": (
            *("[]", "[null]", "[1, 'a', null]", "range(1, 2000)", "[[1], []]", "[0.0, 1.0]", "[x IN range(1, 3) | x * 2]"),
            *("[{a: 1}]", "[[[[[[[[1]]]]]]]]", "range(10, 1, -3)", "['2024-01-01']"),
        ),
        "map": ("{}", "{a: null}", "{x: 1, y: 2}", "{longitude: 181, latitude: 91}", "{year: 2024, week: 60}", "{x: 'a', crs: 'wgs'}"),
        "other": (
            *("point({x: 1, y: 2})", "point({longitude: 1, latitude: 2, height: 3})", "n", "r", "p", "nodes(p)", "m"),
            *("relationships(p)", "properties(n)", "EXISTS { (n)--() }", "COUNT { (n)--() }", "keys(n)", "rand()"),
        ),
    },
    "ladybug": {
        **_COMMON,
        "number": ("1e308", "-1e308", "5e-324", "0.1", "-0.0", "cast('nan' AS DOUBLE)", "cast('-inf' AS FLOAT)", "cast(1.5 AS DECIMAL(18, 2))"),
        "integer": (*_INTEGERS, "cast(-128 AS INT8)", "cast(255 AS UINT8)", "to_int128('170141183460469231731687303715884105727')"),
        "text": (*_ESCAPED, "repeat('ab', 50000)", "repeat('é', 3000)"),
        "bytes": ("blob('\\\\xff\\\\x00')", "encode('é')", "blob('')"),
        "date": (
            *("date('2024-02-29')", "date('290308-12-21')", "timestamp('2024-01-01 00:00:00')", "date('0001-01-01')"),
            *("timestamp('294247-01-10 04:00:54')", "cast('2024-01-01' AS TIMESTAMP_NS)", "cast('2024-01-01' AS TIMESTAMP_TZ)"),
        ),
        "interval": ("interval('1 day')", "interval('-178956970 years')", "to_months(2147483647)", "interval('0 seconds')"),
        "list": (
            *("[]", "[NULL]", "[1, 2, 3]", "['a', NULL, '']", "[[1], [], NULL]", "range(1, 2000)", "[1.5, 2.5]"),
            *("cast([1, 2, 3] AS INT64[3])", "cast([0.1, 0.2] AS FLOAT[2])", "[[[[[[[[1]]]]]]]]", "[{a: 1}]"),
        ),
        "map": ("{a: 1}", "{a: NULL, b: [1]}", "map([1, 2], ['a', 'b'])", "map([], [])", "map(['a'], [NULL])", "union_value(a := 1)"),
        "other": (
            *("n", "r", "p", "nodes(p)", "rels(p)", "id(n)", "uuid('00000000-0000-0000-0000-000000000000')", "m"),
            *("x -> x + 1", "(x, y) -> x + y", "x -> NULL", "label(n)", "gen_random_uuid()", "internal_id(0, 0)"),
        ),
    },
}  # fmt: skip
"""By engine and kind of type."""

COLUMNS = {
    "sql": ("goods_name", "base_price", "code", "pop_demand", "current_price"),
    "cypher": ("n.name", "n.code", "n.level", "r.level", "n.base_price", "m.id"),
}
"""Columns of the small world: goods, and goods' neighbours."""

TYPES = {
    "sqlite": "INTEGER; REAL; TEXT; BLOB; NUMERIC",
    "duckdb": "TINYINT; INTEGER; BIGINT; HUGEINT; UHUGEINT; UBIGINT; FLOAT; DOUBLE; DECIMAL(38,10); VARCHAR; BLOB; BIT; DATE; TIME; "
    "TIMETZ; TIMESTAMP; TIMESTAMP_NS; TIMESTAMPTZ; INTERVAL; UUID; JSON; INTEGER[]; VARCHAR[][]; INTEGER[3]; BOOLEAN; BIGNUM; VARIANT",
    "mariadb": "SIGNED; UNSIGNED; DECIMAL(65,30); CHAR; BINARY(3); DATE; DATETIME(6); TIME(6); DOUBLE; YEAR; INET6; UUID",
    "postgres": "smallint; integer; bigint; numeric(1000,900); real; double precision; text; bytea; bit(3); varbit; date; time; timetz; "
    "timestamp; timestamptz; interval; uuid; json; jsonb; xml; int[]; text[]; boolean; inet; cidr; macaddr; point; box; path; polygon; "
    "circle; line; lseg; tsvector; tsquery; int4range; nummultirange; money; oid; regclass; name; char; jsonpath; pg_lsn",
    "ladybug": "INT8; INT16; INT32; INT64; INT128; UINT8; UINT64; UINT128; FLOAT; DOUBLE; DECIMAL(18,2); STRING; BLOB; DATE; TIMESTAMP; "
    "TIMESTAMP_NS; TIMESTAMP_TZ; INTERVAL; UUID; BOOL; INT64[]; STRING[][]; INT64[3]; STRUCT(a INT64); MAP(STRING, INT64)",
}  # fmt: skip
"""Types to cast to."""

_KINDS = (
    ("list", ("[]", "list", "array", "vector")),
    ("map", ("map", "struct", "record", "row", "range", "node", "relationship", "path", "point", "union")),
    ("interval", ("interval", "duration")),
    ("date", ("date", "time")),
    ("json", ("json",)),
    ("bytes", ("blob", "bytea", "bit", "binary")),
    ("boolean", ("bool",)),
    ("integer", ("int", "oid", "serial", "long")),
    ("number", ("float", "double", "decimal", "num", "real", "money")),
    ("text", ("char", "text", "string", "name", "cstring")),
)


def kind_of(type_name: str) -> str | None:
    """Return the kind of values that an argument of a type takes; None where any is as good."""
    name = type_name.lower()
    return next((kind for kind, parts in _KINDS if any(part in name for part in parts)), None)
