"""What may be read, where a policy limits it: tables, and columns by whatever way.

The rules are coarse on purpose. Names are not resolved as a server would resolve them; a name that
could mean something that may not be read is refused, with the way to write it clearly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from dqa.core.run_stores import is_store_table
from dqa.guard.policy import Policy
from dqa.guard.sql.lists import lists
from dqa.guard.sql.shadows import hidden_index
from dqa.guard.sql.text import StatementText
from dqa.guard.verdict import Refusal

_PLAIN_SOURCES = frozenset(
    {
        *("explode", "explodinggenerateseries", "generate_series", "generate_subscripts"),
        *("generateseries", "json_array_elements", "json_array_elements_text", "json_each"),
        *(
            "json_each_text",
            "json_object_keys",
            "json_table",
            "json_to_record",
            "json_to_recordset",
        ),
        *("json_tree", "jsonb_array_elements", "jsonb_array_elements_text", "jsonb_each"),
        *("jsonb_each_text", "jsonb_object_keys", "jsonb_to_record", "jsonb_to_recordset"),
        *("jsontable", "range", "regexp_matches", "regexp_split_to_table", "string_to_table"),
        *("unnest", "xmltable"),
    }
)
"""Functions in FROM that read nothing but their arguments."""
_OF_ROWS = frozenset(
    {
        *("any_value", "array_agg", "concat", "first_value", "format", "hstore", "json_agg"),
        *("json_build_array", "jsonb_agg", "jsonb_build_array", "last_value", "max", "min", "mode"),
        *("quote_literal", "quote_nullable", "row_to_json", "string_agg", "text", "to_json"),
        *("to_jsonb", "xmlagg"),
    }
)
"""What PostgreSQL takes in ``row.name`` for a function of the row, if no column has the name."""
_ROW_NUMBERS = frozenset({"rowid", "oid", "_rowid_"})
_OF_INDEXES = frozenset({"bm25", "highlight", "match", "matchinfo", "offsets", "snippet"})
"""Functions of SQLite's full-text indexes. FTS5 takes a number in a column for that of a cursor,
and tells any column of the row that it is at, of whatever index."""
SEARCHED = (
    "MATCH and the functions of a full-text index may look into what may not be read; write LIKE"
)


@dataclass(frozen=True, slots=True)
class _Source:
    """A real table in the statement: its name, and how the statement calls it."""

    node: exp.Table
    name: str
    called: str


def refuse_unless_in_scope(
    tree: exp.Expr, text: StatementText, dialect: str, policy: Policy
) -> None:
    """Refuse a tree that reads, or might read, what the policy does not allow."""
    sources = [
        _Source(node, node.name.casefold(), (node.alias or node.name).casefold())
        for node in real_tables(tree)
    ]
    for source in sources:
        if policy.tables is None and policy.holds_store:
            _refuse_store(source, dialect)
        if not policy.allows_table(source.name, source.node.db):
            allowed = ", ".join(sorted(policy.tables or policy.schemas or ()))
            written = ".".join(filter(None, (source.node.db, source.name)))
            raise Refusal(f"the table {written} may not be read; there is {allowed}")
    refuse_sources_of_functions(tree)
    if not policy.limits_columns:
        return
    if dialect in {"mysql", "mariadb"} and '"' in text.code:
        raise Refusal("\"...\" may be text or a name here; write text as '...'")
    if dialect == "sqlite":
        _refuse_shadows(sources, policy)
    limited = [source for source in sources if policy.limits_columns_of(source.name)]
    if limited:
        _Columns(sources, limited, policy).check(tree)


def _refuse_store(source: _Source, dialect: str) -> None:
    """Refuse a table of a run store, and the catalogues, which would list it."""
    if is_store_table(source.name):
        raise Refusal(
            f"the table {source.name} is of a store of runs, which may be read where the policy's "
            "tables name it"
        )
    known = lists(dialect)
    if source.name in known.tables or f"{source.node.db}.{source.name}".lower() in known.tables:
        raise Refusal(
            f"{source.name} is a catalogue, and would list the tables of a store of runs; the "
            "tables that may be read are described already, so write a query of those"
        )


def _refuse_shadows(sources: list[_Source], policy: Policy) -> None:
    for source in sources:
        index = hidden_index(source.name, policy)
        if index is not None:
            raise Refusal(
                f"the table {source.name} is a part of {index}, of which not all columns may be "
                f"read; read {index}"
            )


def real_tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """Yield every table that is no WITH part visible where it is named."""
    try:
        scopes = traverse_scope(tree) if isinstance(tree, exp.Query) else []
        parts = {
            id(node)
            for scope in scopes
            for node, source in scope.selected_sources.values()
            if isinstance(source, Scope) and isinstance(node, exp.Table) and not node.db
        }
    except SqlglotError as error:
        raise Refusal(f"what it reads cannot be told: {str(error).splitlines()[0]}") from error
    with_ = None if isinstance(tree, exp.Query) else tree.args.get("with_")
    with_parts = {part.alias for part in with_.expressions} if with_ is not None else set()
    for node in tree.find_all(exp.Table):
        if id(node) in parts or not isinstance(node.this, exp.Identifier):
            continue
        if node.name in with_parts and not node.db and node.find_ancestor(exp.CTE) is None:
            continue  # of PIVOT, which has no scope
        yield node


def refuse_sources_of_functions(tree: exp.Expr) -> None:
    """Refuse functions in FROM that could read a table."""
    for node in tree.find_all(exp.Table):
        function = node.this
        if isinstance(function, exp.Func | exp.Dot):
            name = function.name if isinstance(function, exp.Anonymous) else type(function).__name__
            if name.casefold() not in _PLAIN_SOURCES:
                raise Refusal(f"{name} in FROM could read any table, and only some may be read")


class _Columns:
    """The columns of a statement, where some may not be read."""

    def __init__(self, sources: list[_Source], limited: list[_Source], policy: Policy) -> None:
        self._limited = limited
        self._policy = policy
        self._by_called: dict[str, list[_Source]] = {}
        for source in sources:
            self._by_called.setdefault(source.called, []).append(source)
            self._by_called.setdefault(source.name, []).append(source)

    def check(self, tree: exp.Expr) -> None:
        for source in self._limited:
            self._check_table(source.node)
        for node in tree.walk():
            if isinstance(node, exp.Column):
                self._check_column(node)
            elif isinstance(node, exp.Star):
                self._check_star(node)
            elif isinstance(node, exp.Join):
                self._check_join(node)
            elif isinstance(node, (exp.Columns, exp.PositionalColumn, exp.Pivot, exp.Summarize)):
                kind = type(node).__name__.upper()
                raise Refusal(f"{kind} could show a column that may not be read; name the columns")
            elif searches(node):
                raise Refusal(SEARCHED)
            elif isinstance(node, exp.Identifier) and not isinstance(node.parent, exp.Column):
                self._check_other_name(node)

    def _check_table(self, node: exp.Table) -> None:
        alias = node.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise Refusal(f"the columns of {node.name} may not be renamed in FROM")

    def _check_column(self, node: exp.Column) -> None:
        if isinstance(node.this, exp.Star):
            self._refuse_star(self._by_called.get(node.table.casefold(), self._limited))
            return
        names = [part.name.casefold() for part in node.parts]
        qualified = [s for name in names[:-1] for s in self._by_called.get(name, ())]
        if qualified:
            for source in qualified:
                for name in names[1:]:
                    self._refuse_column(source, name)
            if len(names) == 2:
                return
        for source in self._limited:
            self._refuse_row(source, names[0])
            if not qualified:
                for name in names:
                    self._refuse_unqualified(source, name)

    def _refuse_unqualified(self, source: _Source, name: str) -> None:
        columns = self._policy.columns_of(source.name)
        if name in _ROW_NUMBERS:
            raise Refusal(f"{name} may be a column that may not be read; name another")
        if not columns or name in columns or name in self._policy.denied_columns:
            self._refuse_column(source, name)

    def _refuse_column(self, source: _Source, name: str) -> None:
        if name in _ROW_NUMBERS and self._policy.limits_columns_of(source.name):
            raise Refusal(f"{name} may be a column that may not be read; name another")
        if name in _OF_ROWS and name not in (self._policy.columns_of(source.name) or ()):
            raise Refusal(f"{source.called}.{name} may read the whole row; name its columns")
        is_row = name == source.name and name not in (self._policy.columns_of(name) or ())
        if is_row and self._policy.limits_columns_of(name):  # of a full-text index of SQLite
            raise Refusal(f"{source.called}.{name} is a whole row; name its columns")
        if not self._policy.allows_column(source.name, name):
            raise Refusal(
                f"the column {name} of {source.name} may not be read; where another table's is "
                f"meant, write the table before it"
            )

    def _refuse_row(self, source: _Source, name: str) -> None:
        """Refuse a table's name as a value: it is its whole row."""
        columns = self._policy.columns_of(source.name) or ()
        if name in {source.called, source.name} and name not in columns:
            raise Refusal(f"{name} is a whole row, with columns that may not be read; name columns")

    def _check_star(self, node: exp.Star) -> None:
        parent = node.parent
        if isinstance(parent, (exp.Column, exp.Count)):
            return
        select = node.find_ancestor(exp.Select)
        self._refuse_star([s for s in self._limited if s.node.find_ancestor(exp.Select) is select])

    def _refuse_star(self, covered: list[_Source]) -> None:
        for source in covered:
            if self._policy.limits_columns_of(source.name):
                raise Refusal(f"* would read all columns of {source.name}; name the columns")

    def _check_join(self, node: exp.Join) -> None:
        if (node.method or "").upper() == "NATURAL":
            raise Refusal("NATURAL JOIN may compare columns that may not be read; use ON")
        for name in node.args.get("using") or ():
            for source in self._limited:
                self._refuse_row(source, name.name.casefold())  # it searches a full-text index
                self._refuse_unqualified(source, name.name.casefold())

    def _check_other_name(self, node: exp.Identifier) -> None:
        """Check a name that is no column to the parser: an attribute, or a lambda's."""
        name = node.name.casefold()
        if isinstance(node.parent, (exp.Dot, exp.Lambda)) or node.arg_key in {"this", "expression"}:
            if isinstance(node.parent, (exp.Table, exp.TableAlias, exp.Alias, exp.CTE)):
                return
            for source in self._limited:
                if name in self._policy.denied_columns:
                    self._refuse_column(source, name)


def searches(node: exp.Expr) -> bool:
    """Whether a full-text index is searched, or tells of its rows: of any of its columns."""
    is_called = isinstance(node, exp.Anonymous) and node.name.casefold() in _OF_INDEXES
    return is_called or isinstance(node, exp.Match)
