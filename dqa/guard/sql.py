"""Decide which SQL statements may run, and what runs in their place.

sqlglot parses the text that is to run. Every node of the tree, every place in a node, every
function, table, type and variable has to be on an allow-list (`lists/*.txt`). Everything else is
refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

from sqlglot import exp

from dqa.guard import describe, tables
from dqa.guard.hints import closest, instead_of
from dqa.guard.lists import lists
from dqa.guard.parsing import MARK, LeftOutError, Parsed, is_table, parse, parts_before
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.text import read_text, spans
from dqa.guard.verdict import Refusal

__all__ = ["judge", "spans"]

QUERIES = (exp.Query, exp.Values, exp.Pivot, exp.Summarize)
"""What a statement, and a part of WITH, may be."""
_PLAIN_NAME = re.compile(r"[\w $#-]+")
_SYSTEM_FUNCTIONS = {"postgres": "pg_catalog"}
"""The schema in which a dialect has its own functions."""
_LARGEST = 1_000_000
_JSON_TEXTS = re.compile(r'"([^"]*)"(?!\s*:)')
_QUERY_SOURCES = (exp.Subquery, exp.CTE, exp.Values, exp.Pivot)
_SAMPLES = frozenset({"bernoulli", "reservoir", "system"})
_ROW_COLUMNS = frozenset({"ctid", "tableoid", "xmin", "*"})
"""What every table of PostgreSQL has beside its columns."""
_EXPLAIN = re.compile(
    r"(?:explain(?: query plan| \((?P<options>(?!\s*(?:select|with|values|table|from)\b)[^()]*)\)"
    r"|(?: (?:analy[sz]e|verbose|extended|partitions|format ?= ?\w+))*)"
    r"|(?:desc|describe|analyze)(?: (?:extended|format ?= ?\w+))*)\s*"
    r"(?=\(|(?:select|with|values|from|pivot|summarize)\b)",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"(?:analy[sz]e|verbose|costs|settings|generic_plan|buffers|summary|timing|memory|wal)"
    r"(?: (?:true|false|on|off|1|0))?|format (?:text|xml|json|yaml|html|graphviz|mermaid)",
    re.IGNORECASE,
)


def judge(statement: str, dialect: str, policy: Policy = DEFAULT) -> str:
    """Return the text that the database runs in place of a statement.

    Raises
    ------
    Refusal
        It is not one query, or it is not known to only read.
    """
    text = read_text(statement, dialect).text
    explained = _EXPLAIN.match(text)
    if explained is None:
        is_description = describe.is_description(text, dialect, policy)
        return text if is_description else _judge_query(text, dialect, policy)
    for option in filter(None, map(str.strip, (explained["options"] or "").split(","))):
        if not _OPTION.fullmatch(option):
            raise Refusal(f"EXPLAIN may not have the option {option}")
    query = text[explained.end() :]
    if _judge_query(query, dialect, policy) != query:
        raise Refusal("the plan may tell what the policy hides; run the query without EXPLAIN")
    return explained[0] + query


def _judge_query(statement: str, dialect: str, policy: Policy) -> str:
    try:
        parsed = parse(statement, dialect, policy.functions)
    except LeftOutError as refusal:
        hint = instead_of(refusal.word, dialect)
        raise Refusal(f"{refusal}. {hint}" if hint else str(refusal)) from None
    if not isinstance(parsed.tree, QUERIES):
        raise Refusal("only a query may run: SELECT, WITH ... SELECT, VALUES, or EXPLAIN of one")
    _Check(parsed, policy).run()
    return tables.rewritten(parsed, policy) if policy.restricts else parsed.text


class _Check:
    """The checks of one statement's nodes."""

    def __init__(self, parsed: Parsed, policy: Policy) -> None:
        self.parsed, self.policy = parsed, policy
        self.dialect = parsed.dialect
        self.known = lists(parsed.dialect)

    def run(self) -> None:
        """Refuse the first node, or place in a node, that is not known to only read."""
        for node in self.parsed.nodes:
            name = type(node).__name__
            places = self.known.parts.get(name)
            if places is None and name not in self.known.function_classes:
                self._refuse(node)
            for place, value in node.args.items():
                if places is not None and place not in places and value not in (None, False, []):
                    self._refuse_place(node, place, value)
            for kind, check in _CHECKS.items():
                if isinstance(node, kind):
                    check(self, node)
        self._check_lengths()
        if self.dialect in {"postgres", "mariadb"}:
            self._check_dots()

    def _refuse(self, node: exp.Expr) -> None:
        name = type(node).__name__.upper()
        if isinstance(node, exp.Lock):
            raise Refusal("it locks what it reads; leave out FOR UPDATE, FOR SHARE and LOCK")
        if isinstance(node, exp.Into):
            raise Refusal("it writes its result with INTO; leave that out, the rows are returned")
        if isinstance(node, exp.Parameter | exp.PropertyEQ):
            raise Refusal("it uses a session's variable (@name); write the value, or a WITH")
        if isinstance(node, exp.Func):
            self._refuse_function(node.name if isinstance(node, exp.Anonymous) else name.lower())
        raise Refusal(f"it contains {name}, and only reading is allowed")

    def _refuse_function(self, name: str) -> None:
        hint = instead_of(name, self.dialect) or closest(name, self.known.functions, cutoff=0.8)
        raise Refusal(
            f"the function {name} is not known to only read"
            + (f". {hint.strip()}" if hint else "; if it does, the policy's functions can name it")
        )

    def _refuse_place(self, node: exp.Expr, place: str, value: object) -> None:
        """Refuse a part in a place that is not on the list: for itself, if that says more."""
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Expr) and type(part).__name__ not in self.known.parts:
                self._refuse(part)
        raise Refusal(
            f"{type(node).__name__.upper()} may not have {place.strip('_').upper()} here, which is "
            "not known to only read; leave it out"
        )

    def check_function(self, node: exp.Anonymous) -> None:
        """Refuse a function that is not on the list, or not by the name it is called with."""
        name = str(node.this)
        if name.startswith(MARK):
            name = name.removeprefix(MARK)
        elif name.lower() not in self.known.special_functions:
            self._refuse_function(name)
        name = name.lower()
        owner = _owner(node)
        full = f"{owner}.{name}" if owner else name
        if full in self.policy.functions:
            return
        is_own = not owner or owner == _SYSTEM_FUNCTIONS.get(self.dialect)
        if name not in self.known.functions or not (is_own or self.dialect == "duckdb"):
            self._refuse_function(full)
        is_limited = self.policy.scope is not None or self.policy.restricts
        is_outside = name in self.known.outside_functions and not self._shows_type(node, name)
        if is_limited and is_outside:
            raise Refusal(f"the function {full} tells of objects that may not be read")
        if name in self.known.structure_functions and self.policy.scope:
            self._check_structure(node)
        if name in self.known.settings_functions:
            value = node.expressions[0] if node.expressions else None
            if not isinstance(value, exp.Literal) or value.name.lower() not in self.known.settings:
                raise Refusal(f"{name} may only name a setting such as 'server_version'")

    def _shows_type(self, node: exp.Expr, name: str) -> bool:
        """Whether pg_typeof is only shown; compared with a text, it would look that text up."""
        return name == "pg_typeof" and isinstance(node.parent, exp.Select | exp.Alias)

    def check_table(self, node: exp.Table) -> None:
        """Refuse tables of the system and of other schemas, and names that are read as files."""
        if not is_table(node):
            self._check_source(node)
            return
        name, schema = node.name.lower(), node.db.lower()
        is_part = name in parts_before(node)
        is_known = is_part or self.policy.columns_of(name) is not None
        if self.dialect == "duckdb" and not is_known:
            self._refuse_file(node)
        full = f"{schema}.{name}" if schema else name
        listed = {full, f"pg_catalog.{full}"} & self.known.tables
        listed |= {name} & self.known.tables if schema in {"main", "temp"} else set()
        is_system = schema in self.known.system_schemas or name.startswith(
            self.known.system_prefixes
        )
        is_system |= schema.startswith("pg_toast") or name in self.known.refused_tables
        if is_system and not listed and not is_known:
            hint = closest(full, self.known.tables, cutoff=0.7)
            raise Refusal(
                f"the system table {full} is not one that may be read.{hint}".rstrip(".?")
            )
        if self.policy.scope is not None and not is_part:
            is_catalogue = bool(listed) or name in self.known.outside_tables
            self.policy.scope.check_table(
                node, self.dialect, self.policy, is_catalogue=is_catalogue
            )

    def _check_source(self, node: exp.Table) -> None:
        """Refuse a function that may not stand in FROM."""
        source = node.this
        if isinstance(source, exp.Dot):
            source = source.expression
        if source is None and node.args.get("rows_from"):
            return
        if not isinstance(source, exp.Func):
            raise Refusal("a table's name must be a name, not a variable or a parameter")
        name = (
            str(source.this).removeprefix(MARK)
            if isinstance(source, exp.Anonymous)
            else type(source).__name__
        )
        allowed = self.known.table_functions
        if allowed and name.lower() not in allowed | self.policy.functions:
            raise Refusal(f"the function {name} may not stand in FROM")
        owner = [part for part in (node.args.get("catalog"), node.args.get("db")) if part]
        if owner and self.policy.scope is not None:
            self.policy.scope.check_owner(owner, self.dialect, self.policy, "function", name)

    def _refuse_file(self, node: exp.Table) -> None:
        """Refuse a name that DuckDB would read as a file, or as a statement in brackets."""
        is_plain = all(_PLAIN_NAME.fullmatch(part.name) for part in node.parts)
        if not is_plain or (node.db and node.name.lower() in self.known.file_endings):
            raise Refusal(f"'{'.'.join(p.name for p in node.parts)}' would be read as a file")
        before = self.parsed.text[: node.parts[0].meta.get("start", 0)].rstrip()
        if before.endswith("(") and not node.db and not node.this.args.get("quoted"):
            raise Refusal(
                f"({node.name.upper()} ...) is not a query; quote {node.name} if it is a table"
            )

    def check_type(self, node: exp.DataType) -> None:
        """Refuse a type that could be of another schema: a table's row is a type in PostgreSQL."""
        kind = node.args.get("kind")
        if node.this != exp.DType.USERDEFINED or kind is None:
            return
        name = kind.name if isinstance(kind, exp.Expr) else str(kind)
        if node.expressions and name.lower() not in self.known.syntax:
            raise Refusal(f"the type {name} is not known to have a size")
        if self.policy.scope is not None:
            self.policy.scope.check_type(kind, self.dialect, self.policy, self.known)

    def check_object(self, node: exp.ObjectIdentifier) -> None:
        """Refuse types that look an object up by its name."""
        if self.policy.scope is not None or self.policy.restricts:
            raise Refusal(f"{node.name} tells of objects that may not be read")

    def check_collation(self, node: exp.Collate) -> None:
        """Refuse a collation of another schema."""
        name = node.expression
        if self.policy.scope is not None and isinstance(name, exp.Column) and len(name.parts) > 1:
            self.policy.scope.check_owner(
                list(name.parts[:-1]), self.dialect, self.policy, "collation", name.name
            )

    def check_variable(self, node: exp.SessionParameter) -> None:
        """Refuse a system variable that is not on the list."""
        if node.name.lower() not in self.known.settings:
            raise Refusal(f"the system variable {node.name} is not one that may be read")

    def check_alias(self, node: exp.TableAlias) -> None:
        """Refuse an alias with columns that are not names: a database could read it as a call."""
        columns = node.args.get("columns") or []
        has_types = self.dialect == "postgres"  # AS x(a int, b text)
        names = [c.this if has_types and isinstance(c, exp.ColumnDef) else c for c in columns]
        is_named = node.this is not None or has_types
        starts = [self.parsed.text[name.meta.get("start", 0)] for name in names]
        is_plain = all(isinstance(name, exp.Identifier) for name in names)
        is_plain &= all(s.isalpha() or s in '_"`[' for s in starts)
        if columns and not (is_named and is_plain):
            raise Refusal(f"'{node.name}(...)' is not an alias; write AS x(a, b) with plain names")

    def check_parameter(self, node: exp.Parameter) -> None:
        """Refuse a variable; in PostgreSQL the sign is an operator, as in ``@ -1``."""
        if self.dialect != "postgres" or not self.parsed.text.count("@"):
            self._refuse(node)

    def check_sample(self, node: exp.TableSample) -> None:
        """Refuse a sampling method that is not known."""
        method = node.args.get("method")
        if method is not None and method.name.lower() not in _SAMPLES:
            raise Refusal(f"the sampling method {method.name} is not known")

    def check_part(self, node: exp.CTE) -> None:
        """Refuse a WITH part that is not a query."""
        if not isinstance(node.this, QUERIES):
            raise Refusal(f"the WITH part '{node.alias}' is not a query")

    def check_operator(self, node: exp.Operator) -> None:
        """Refuse an operator of another schema."""
        if not node.args["operator"].startswith("pg_catalog."):
            raise Refusal("OPERATOR(...) may only name an operator of pg_catalog")

    def check_applied(self, node: exp.Expr) -> None:
        """Refuse what DuckDB applies to a table where a text would name a file."""
        if node.this is not None and not isinstance(node.this, exp.Table | exp.Query | exp.Values):
            raise Refusal(f"{type(node).__name__.upper()} needs a table or a query, not text")

    def check_in(self, node: exp.In) -> None:
        """Refuse ``x IN name``, which SQLite reads as a table that has no node in the tree."""
        if self.dialect == "sqlite" and node.args.get("field") is not None:
            raise Refusal("IN needs a list or a query: write IN (SELECT column FROM table)")

    def _check_lengths(self) -> None:
        """Refuse texts of millions of characters, which a limit on time does not stop in time."""
        sizes: dict[int, float] = {}
        for node in reversed(self.parsed.nodes):  # children come behind their parents
            inner = [sizes.get(id(child), 1.0) for child in node.iter_expressions()]
            size = cost = max(inner, default=1.0)
            name = str(node.this).removeprefix(MARK) if isinstance(node, exp.Anonymous) else ""
            if isinstance(node, exp.Literal):
                size, cost = _literal_size(node), 1.0
            elif isinstance(node, exp.Mul) or name in self.known.long_texts:
                size = prod(max(one, 1.0) for one in inner)
                cost = size if name else 1.0
            elif name in {"lpad", "rpad"}:
                cost = size
            elif name in {"replace", "regexp_replace"} and len(inner) > 2:
                size = cost = inner[0] * max(1.0, inner[2] / max(inner[1], 1.0))
            elif name in self.known.searching_functions or isinstance(node, exp.Trim | exp.Overlay):
                size, cost = inner[0], prod(max(one, 1.0) for one in inner)
            else:
                cost = 1.0
            sizes[id(node)] = size
            if cost > _LARGEST:
                raise Refusal(
                    f"{name or type(node).__name__.upper()} could work on more than {_LARGEST:,} "
                    "characters or values; use smaller numbers"
                )

    def _check_structure(self, node: exp.Anonymous) -> None:
        """Refuse types in a text of JSON that could be of another schema."""
        structure = node.expressions[-1] if node.expressions else None
        if not isinstance(structure, exp.Literal) or "\\" in structure.name:
            raise Refusal("the structure of JSON must be a plain text of JSON")
        for written in _JSON_TEXTS.findall(structure.name):
            if (
                "." in written
                or not set(re.findall(r"[^\W\d]\w*", written.lower())) <= self.known.syntax
            ):
                raise Refusal(f"the type {written} is not known")

    def _check_dots(self) -> None:
        """Refuse ``x.f`` where PostgreSQL could call f(x), or MariaDB could use a sequence."""
        functions, sources, others = self._sources()
        known, own = self._columns()
        for node in self.parsed.nodes:
            if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
                if not _is_type(node):
                    self._check_attribute(node.expression.name, known or frozenset())
            elif isinstance(node, exp.Column) and node.table and not _is_collation(node):
                owner, name = node.table.casefold(), node.name.casefold()
                if owner not in {*sources, *functions}:
                    raise Refusal(f"{node.table}.{node.name} names no table of the statement")
                if owner in functions and name not in {"*", *functions[owner]}:
                    raise Refusal(f"{node.table}.{node.name} is not a column of that function")
                if self.dialect == "postgres" and name not in own and owner not in others:
                    self._check_attribute(node.name, known)

    def _check_attribute(self, name: str, known: frozenset[str] | None) -> None:
        if known is not None and name.casefold() not in known:
            hint = closest(name, known, quote=self.policy.quote)
            raise Refusal(f".{name} is not a known column, and could call a function.{hint}")

    def _columns(self) -> tuple[frozenset[str] | None, frozenset[str]]:
        """Return what may stand behind a dot, None without a schema, and the statement's own."""
        own = frozenset(name for node in self.parsed.nodes for name in _own_names(node))
        if self.policy.schema is None:
            return None, own
        columns = [column for table in self.policy.schema.tables for column in table.columns]
        known = {column.name.casefold() for column in columns}
        known.update(word for c in columns for word in re.findall(r"\w+", c.type.casefold()))
        return frozenset(known | _ROW_COLUMNS | self.known.function_columns), own

    def _sources(self) -> tuple[Mapping[str, frozenset[str]], frozenset[str], frozenset[str]]:
        """Return what the statement reads, by the names that it has there, in lower case.

        These are functions with their columns, other sources, and among these the tables that the
        schema does not have: the catalogue's, and those of other schemas.
        """
        functions: dict[str, frozenset[str]] = {}
        sources: set[str] = set()
        others: set[str] = set()
        for node in self.parsed.nodes:
            if is_table(node):
                called = {node.alias_or_name.casefold(), node.name.casefold()}
                is_known = self.policy.columns_of(node.name) is not None
                sources |= called
                others |= (
                    set() if is_known or node.name.casefold() in parts_before(node) else called
                )
            elif isinstance(node, _QUERY_SOURCES) or isinstance(node.this, exp.Subquery):
                sources.add(node.alias.casefold())
            elif isinstance(node, exp.Table | exp.TableFromRows | exp.Lateral | exp.Unnest):
                name = _function_name(node).casefold()
                called_as = node.alias.casefold() or name
                own = {column.casefold() for column in node.alias_column_names} or {called_as}
                own |= {name, *self.known.function_columns}
                functions[called_as] = functions.get(called_as, frozenset()) | own
        return functions, frozenset(sources), frozenset(others)


def _literal_size(node: exp.Literal) -> float:
    """Return the value of a number, and the length of a text."""
    return abs(float(node.this)) if node.is_number else float(len(node.this))


def _function_name(node: exp.Expr) -> str:
    function = node.this.expression if isinstance(node.this, exp.Dot) else node.this
    name = function.this if isinstance(function, exp.Anonymous) else type(function).__name__
    return str(name).removeprefix(MARK)


def _own_names(node: exp.Expr) -> Iterator[str]:
    """Yield the columns that a statement names itself."""
    if isinstance(node, exp.Alias):
        yield node.alias.casefold()
    elif isinstance(node, exp.ColumnDef):
        yield node.name.casefold()
    elif isinstance(node, exp.TableAlias):
        yield from (column.name.casefold() for column in node.columns)


def _is_type(node: exp.Expr) -> bool:
    """Whether a name with dots is the name of a type."""
    while isinstance(node.parent, exp.Dot):
        node = node.parent
    return isinstance(node.parent, exp.DataType) or node.arg_key == "to"


def _is_collation(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Collate) and node.arg_key == "expression"


def _owner(node: exp.Expr) -> str:
    """Return the schema with which a function is called, in lower case."""
    parent = node.parent
    if isinstance(parent, exp.Dot) and parent.expression is node:
        return parent.this.name.lower() if isinstance(parent.this, exp.Identifier) else "?"
    if isinstance(parent, exp.Table) and parent.this is node:
        return parent.db.lower()
    return ""


_CHECKS: Mapping[type[exp.Expr], Callable[[_Check, Any], None]] = {
    exp.Anonymous: _Check.check_function,
    exp.CTE: _Check.check_part,
    exp.Collate: _Check.check_collation,
    exp.DataType: _Check.check_type,
    exp.In: _Check.check_in,
    exp.ObjectIdentifier: _Check.check_object,
    exp.Operator: _Check.check_operator,
    exp.Parameter: _Check.check_parameter,
    exp.Pivot: _Check.check_applied,
    exp.SessionParameter: _Check.check_variable,
    exp.Summarize: _Check.check_applied,
    exp.Table: _Check.check_table,
    exp.TableAlias: _Check.check_alias,
    exp.TableSample: _Check.check_sample,
}
