"""Replace each restricted table by a query over its visible columns and rows.

The query lacks denied columns, has masks in place of masked values, and contains only rows that the
row filter allows. The rest of the statement is unchanged, so `*`, USING, an alias and a whole row
read only the visible part.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, QueryError, UsageError
from dqa.core.schema import TableInfo, quoted
from dqa.core.session import Session
from dqa.guard.check import Refusal
from dqa.guard.hints import closest
from dqa.guard.lists import lists
from dqa.guard.parsing import Parsed, called, parse
from dqa.guard.policy import Policy, ShownTable
from dqa.guard.text import read_text

_MYSQL_FENCE = "LIMIT 18446744073709551615"
_FENCES: Mapping[str, str] = {
    "postgres": "OFFSET 0",
    "duckdb": "OFFSET 0",
    "sqlite": "LIMIT -1",
    "mysql": _MYSQL_FENCE,
    "mariadb": _MYSQL_FENCE,
}
"""Text that forces the planner to apply the row filter first, so that no condition of the statement
sees a hidden row. Only these dialects support masks and row filters."""
_BEFORE = re.compile(r"(?:\b(?:from|join|straight_join)|[,(])\s*\Z", re.IGNORECASE)
_PLAIN = frozenset({"this", "db", "catalog", "alias", "joins"})
_ROW_NUMBERS = frozenset({"rowid", "oid", "_rowid_"})
_ALL = Limits(rows=1_000_000, bytes=1 << 30, seconds=60.0, cell=1 << 24)
"""The limits for reading a catalogue, which must be complete."""
_VIEWS: Mapping[str, str] = {
    # Views and functions with their definitions. Also pairs of a partition and its parent or an
    # earlier ancestor, in both orders.
    "postgres": """
        SELECT c.relname, pg_catalog.pg_get_viewdef(c.oid), false AS is_partition
          FROM pg_catalog.pg_class AS c
          JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        UNION ALL
        SELECT p.proname, coalesce(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc), false
          FROM pg_catalog.pg_proc AS p
          JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
         WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
        UNION ALL
        SELECT x.one, x.other, true
          FROM (WITH RECURSIVE family(child, parent) AS (
                    SELECT inhrelid, inhparent FROM pg_catalog.pg_inherits
                    UNION SELECT child, inhparent FROM family
                      JOIN pg_catalog.pg_inherits ON inhrelid = parent)
                SELECT child, parent FROM family) AS f
          JOIN pg_catalog.pg_class AS c ON c.oid = f.child
          JOIN pg_catalog.pg_class AS p ON p.oid = f.parent,
               LATERAL (VALUES (c.relname, p.relname), (p.relname, c.relname)) AS x(one, other)
    """,
    # Views with their definitions. The definition of a full-text index names its source table; the
    # names of the index's own tables begin with the name of the index.
    "sqlite": """
        SELECT name, sql FROM sqlite_master
         WHERE type = 'view' OR (type = 'table' AND rootpage = 0)
        UNION ALL
        SELECT s.name, v.name FROM sqlite_master AS s JOIN sqlite_master AS v
            ON v.type = 'table' AND v.rootpage = 0
           AND lower(substr(s.name, 1, length(v.name) + 1)) = lower(v.name) || '_'
         WHERE s.type = 'table'
    """,
    "duckdb": """
        SELECT view_name, sql FROM duckdb_views() WHERE NOT internal
        UNION ALL
        SELECT function_name, macro_definition FROM duckdb_functions()
         WHERE NOT internal AND macro_definition IS NOT NULL
    """,
    **dict.fromkeys(
        ("mysql", "mariadb"),
        """
        SELECT table_name, view_definition FROM information_schema.views
        UNION ALL
        SELECT routine_name, routine_definition FROM information_schema.routines
         WHERE routine_type = 'FUNCTION' AND routine_schema <> 'sys'
        """,
    ),
}
_CALLABLES = """
WITH looking AS (
    SELECT oid FROM pg_catalog.pg_type WHERE left(typname, 3) = 'reg' OR typname = 'aclitem'
), own_cast AS (
    SELECT c.casttarget AS oid, s.typtype IN ('c', 'd') AS of_row FROM pg_catalog.pg_cast AS c
      JOIN pg_catalog.pg_type AS s ON s.oid = c.castsource WHERE c.oid >= 16384
)
SELECT p.proname, a.typtype IN ('c', 'd', 'p') OR a.typcategory = 'A'
       OR a.oid IN (SELECT oid FROM own_cast WHERE of_row)
  FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_type AS a ON a.oid = p.proargtypes[0]
 WHERE p.pronargs - p.pronargdefaults <= 1 AND pg_catalog.pg_function_is_visible(p.oid)
   AND (p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace
        OR a.oid IN (SELECT oid FROM looking)
        OR (p.provolatile <> 'i' AND p.proname <> 'money' AND a.typname <> 'internal'))
UNION SELECT t.typname, b.typtype IN ('c', 'd')
       OR t.oid IN (SELECT oid FROM own_cast WHERE of_row)
  FROM pg_catalog.pg_type AS t LEFT JOIN pg_catalog.pg_type AS b ON b.oid = t.typbasetype
 WHERE pg_catalog.pg_type_is_visible(t.oid)
   AND (t.typtype IN ('d', 'e', 'm', 'r') OR left(t.typname, 1) = '_'
        OR t.oid IN (SELECT oid FROM looking) OR t.oid IN (SELECT oid FROM own_cast))
"""
"""Lists functions that accept one argument, and types that need a call or look-up to convert.

The second column is true if the argument can be a row. Casts of users have numbers from 16384 on. A
text that is converted to a `reg` type or to `aclitem` is the name of an object. The query omits
PostgreSQL's other immutable functions and `money`, which only compute a value. It also omits
functions with internal arguments, which statements cannot call.
"""


def rewritten(parsed: Parsed, policy: Policy) -> str:
    """Return the text of a checked statement with restricted tables replaced by queries.

    Raises
    ------
    Refusal
        The statement reads a hidden table, or uses a restricted table in a place where SQL allows
        no subquery.
    """
    parts = [node.alias.casefold() for node in parsed.nodes if isinstance(node, exp.CTE)]
    for name in parts:
        if parts.count(name) > 1:  # databases resolve the name differently
            raise Refusal(f"two parts of WITH have the name {name}; rename one")
    text, done, own = parsed.text, 0, list[str]()
    restricted: dict[str, ShownTable] = {}
    for node in sorted(
        parsed.tables.values(), key=lambda node: node.parts[0].meta.get("start", -1)
    ):
        is_own = _require_shown(node, parsed.dialect, policy)
        shown = policy.shown_tables.get(node.name.casefold()) if is_own else None
        if shown is None or shown.is_whole:
            continue
        if not shown.columns:
            raise Refusal(f"no column of {node.name} may be read, or its columns are unknown")
        restricted[node.name.casefold()] = shown
        start = int(node.parts[0].meta.get("start", -1))
        end = int(node.parts[-1].meta.get("end", -2)) + 1
        is_plain = _PLAIN.issuperset(part for part, value in node.args.items() if value)
        is_source = isinstance(node.parent, exp.From | exp.Join | exp.Subquery)
        if not (is_plain and is_source and start >= 0 and _BEFORE.search(text[:start])):
            raise Refusal(
                f"the policy hides a part of {node.name}; use this table only after FROM or JOIN"
            )
        rows = text[start:end]
        if shown.row_filter:
            condition = f"({shown.row_filter}) {_FENCES[parsed.dialect]}"
            rows = f"(SELECT * FROM {rows} WHERE {condition}) AS dqa_rows"  # noqa: S608
        own += text[done:start], f"(SELECT {shown.items} FROM {rows})"  # noqa: S608
        if node.args.get("alias") is None:
            own.append(f" AS {text[int(node.parts[-1].meta['start']) : end]}")
        done = end
    if restricted:
        _refuse_bypasses(parsed, restricted)
    return "".join((*own, text[done:]))


def _require_shown(node: exp.Table, dialect: str, policy: Policy) -> bool:
    """Refuse a hidden table. For any other table, return whether the policy restricts it."""
    if dialect in {"mysql", "mariadb"} and node.sql().lower() == "dual":
        return False  # a word of the language
    known, name = lists(dialect)["tables"], node.name.casefold()
    full = f"{node.db}.{name}".casefold()
    names, table = {name, full.strip(".")}, policy.known_tables.get(name)
    is_listed = policy.tables is None or full in policy.tables
    if node.db and full in policy.unmasked and is_listed:
        return False
    is_catalogue = bool(names & known) or f"pg_catalog.{name}" in known
    if is_catalogue and table is None and not names & (policy.tables or frozenset()):
        raise Refusal(
            f"the catalogue {node.name} may not be read; use SHOW TABLES or DESCRIBE instead"
        )
    is_elsewhere = False
    if node.db and policy.schema_scope is not None:
        is_quoted = bool(node.args["db"].args.get("quoted"))
        is_elsewhere = not policy.schema_scope.first.holds(node.db, dialect, quoted=is_quoted)
    if is_elsewhere and policy.allows_table(node.name, node.db):
        if policy.hides or policy.restricts_table(name) or policy.reveals(name):
            raise Refusal(f"{full} belongs to another schema and could show hidden data")
        return False
    repeated = policy.schema.repeated_names if policy.schema is not None else None
    is_single = repeated is not None and name not in repeated
    if not (node.db or is_single) and (owner := policy.owner_of(name)):
        raise Refusal(f"write {owner}.{node.name}: another schema may have this table, too")
    is_known = policy.schema is None or name in policy.visible_tables
    if not (is_known and policy.allows_table(node.name, node.db)):
        hint = closest(node.name, [one.name for one in policy.visible_tables.values()])
        raise Refusal(f"there is no table {node.name} that may be read.{hint}".rstrip(".?"))
    if policy.schema is None and policy.restricts_table(name):
        raise Refusal(
            f"the policy hides a part of {node.name}, whose columns are unknown here; open the "
            "database instead ('dqa query --database URL STATEMENT'; in Python its check())"
        )
    return True


def _refuse_bypasses(parsed: Parsed, restricted: Mapping[str, ShownTable]) -> None:
    """Refuse constructs that could read hidden data although a query replaces the table."""
    columns = {column.name.casefold() for shown in restricted.values() for column in shown.columns}
    searches = lists(parsed.dialect)["functions of indexes"]
    for node in parsed.nodes:
        name = node.name.casefold()
        if isinstance(node, exp.Column):
            if node.db and node.table.casefold() in restricted:
                raise Refusal(f"write {node.table}.{node.name} without the name of a schema")
            if parsed.dialect == "sqlite" and name in _ROW_NUMBERS - columns:
                raise Refusal(f"the column {name} does not exist or is hidden; use another column")
        if isinstance(node, exp.TableSample) and any(one.row_filter for one in restricted.values()):
            raise Refusal("a sample depends on hidden rows; use LIMIT")
        # SQLite applies a search to the whole index, even if a query replaces the table.
        if isinstance(node, exp.Match) or called(node).lower() in searches:
            raise Refusal("a search in an index could read hidden data; use LIKE")


# Opening a database


def protected(policy: Policy, session: Session) -> Policy:
    """Add the views that would show hidden data to a policy.

    Raises
    ------
    UsageError
        The database cannot apply a mask or a row filter, or its views are unknown.
    DatabaseUnavailableError
        The views cannot be listed.
    """
    dialect = session.dialect
    if dialect not in _FENCES:
        if policy.hides:
            raise UsageError(
                f"Masks and row filters are not supported for {session.language}. Remove them from "
                "the policy, or let the policy allow only a view that hides the same data."
            )
        if policy.restricted_names and policy.tables is None:
            raise UsageError(
                f"In {session.language}, dqa cannot find the views that show a hidden column. Add "
                "'tables' to the policy: list the tables and views that may be read."
            )
        return policy
    hiding = set(policy.restricted_names - {""})
    hiding |= {name for name, shown in policy.shown_tables.items() if not shown.is_whole}
    for table in policy.schema.tables if policy.schema is not None else ():
        name = table.name.casefold()
        if policy.known_tables[name] is not table and policy.restricts_table(name):
            raise UsageError(
                f"Two tables have the name {table.name}, and the policy hides a part of one of "
                "them: rename one, or open a single schema."
            )
    require_conditions(policy, dialect)
    rows = _views(session) if hiding else []
    # A view with its own restrictions may be read. A partition and its parent have common rows, so
    # `_is_safe` compares their restrictions.
    named = policy.restricted_names - {row[0] for row in rows if row[2]}
    unsafe = [row[:2] for row in rows if not (row[2] and _is_safe(*row[:2], policy, hiding))]
    return replace(policy, revealing_views=revealing_views(unsafe, hiding) - named)


def _views(session: Session) -> list[tuple[str, str, bool]]:
    """Return the views with their definitions in lower case, and the pairs of partitions."""
    rows = _listed(session, _VIEWS[session.dialect], "views")
    texts = ([str(value or "").casefold() for value in row[:2]] for row in rows)
    return [(name, text, any(row[2:])) for (name, text), row in zip(texts, rows, strict=True)]


def read_callables(session: Session) -> Mapping[str, bool]:
    """Return the names that ``x.name`` must not call in a PostgreSQL database, in lower case.

    The value of each name is true if x can be a row.

    Raises
    ------
    DatabaseUnavailableError, UsageError
        The functions cannot be listed, or there are too many functions.
    """
    known = lists("postgres")
    checked = known["functions that look outside"] | known["functions of settings"]
    allowed = known["functions"] - checked
    found: dict[str, bool] = {}
    for written, takes_row in _listed(session, _CALLABLES, "functions"):
        name = str(written).casefold()
        if name not in allowed:
            found[name] = bool(takes_row) or found.get(name, False)
    return found


def _listed(session: Session, statement: str, what: str) -> Sequence[Sequence[object]]:
    """Return all rows of a statement that reads the catalogue."""
    try:
        found = session.run(" ".join(statement.split()), _ALL)
    except QueryError as error:
        raise DatabaseUnavailableError(
            f"The {what} of database '{session.name}' cannot be listed: {error}"
        ) from error
    if found.cut is not None:
        raise UsageError(
            f"Database '{session.name}' has too many {what} to list. Open a single schema, or hide "
            "the data in the database itself."
        )
    return found.rows


def require_conditions(policy: Policy, dialect: str) -> None:
    """Raise `UsageError` if a row filter does more than compare its table's columns with values."""
    for name, condition in policy.row_filters.items():
        table = policy.known_tables.get(name)
        if table is None or policy.schema is None:
            continue
        own = quoted(table.name, policy.schema.quote)
        statement = f"SELECT 1 FROM {own} WHERE ({condition})"  # noqa: S608
        try:
            _refuse_unless_plain(table, statement, dialect)
        except Refusal as refusal:
            raise UsageError(
                f"The policy's row filter of {table.name} cannot be used: {refusal}. Write "
                "comparisons of columns with plain values (=, <, IN, BETWEEN, LIKE, IS NULL), "
                f"combined with AND, OR and NOT. The filter is: {condition}"
            ) from refusal


def _refuse_unless_plain(table: TableInfo, statement: str, dialect: str) -> None:
    """Refuse a statement if its condition contains more than a row filter may contain."""
    parsed = parse(read_text(statement, dialect), dialect)
    where = parsed.tree.args.get("where")
    filled = {argument for argument, value in parsed.tree.args.items() if value}
    is_single = filled == {"expressions", "from_", "where"} and parsed.text == statement
    if where is None or not isinstance(where.this, exp.Paren) or not is_single:
        raise Refusal("it is not a single condition, or it contains a comment or a backslash")
    known = lists(dialect)
    columns = {column.name.casefold(): column.name for column in table.columns}
    for node in where.this.walk():
        is_plain = type(node).__name__ in known["parts of row filters"]
        match node:
            case exp.Column() if len(node.parts) > 1 or node.name.casefold() not in columns:
                hint = closest(node.name, columns.values())
                problem = f"'{node.sql()}' is not the plain name of a column of the table.{hint}"
                raise Refusal(problem.rstrip(".?"))
            case exp.Cast():
                is_plain = isinstance(node.this, exp.Literal)
            case exp.In():
                is_plain = not (node.args.get("query") or node.args.get("field"))
            case exp.Anonymous():
                is_plain = called(node) in known["functions of row filters"]
        if not is_plain:
            raise Refusal(f"it may not contain {(called(node) or type(node).__name__).upper()}")


def _is_safe(one: str, other: str, policy: Policy, hiding: Collection[str]) -> bool:
    """Return whether a table hides everything that its partition or its parent (`other`) hides."""
    own, others = (policy.row_filters.get(name, "").strip() for name in (one, other))
    table = policy.known_tables.get(one)
    columns = {column.name.casefold() for column in table.columns} if table is not None else set()
    is_hidden = columns.isdisjoint(policy.hidden_columns(other) - policy.hidden_columns(one))
    return one in hiding and is_hidden and others in {"", own}


def revealing_views(rows: Iterable[tuple[str, str]], hiding: Collection[str]) -> frozenset[str]:
    """Return the views that read a restricted table, also through other views.

    Every word in a definition counts as a name that the view reads, so the result may contain too
    many views but never too few. A view whose definition the role cannot see counts as revealing.

    Parameters
    ----------
    rows
        Views with their definitions, in lower case.
    hiding
        The restricted tables, in lower case.
    """
    views = list(rows)
    found: set[str] = set()
    names = list(hiding)
    while names:
        name = names.pop()
        spellings = {re.escape(name), *(re.escape(name.replace(q, 2 * q)) for q in '"`]')}
        word = re.compile(rf"(?<!\w)(?:{'|'.join(spellings)})(?!\w)")
        # A definition contains the view's own name.
        new = {view for view, text in views if view != name and (not text or word.search(text))}
        names += new - found
        found |= new
    return frozenset(found)
