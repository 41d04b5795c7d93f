"""Decide which SQL statements may run, and return the text that runs.

sqlglot parses the text. Every node of the tree, every argument of a node, and every function,
table, type and variable must be on an allow-list (`lists/*.txt`). Everything else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType, exp

from dqa.core.run_stores import TABLE_PREFIX
from dqa.guard.check import GuardVerdict, Refusal
from dqa.guard.hints import closest, instead_of
from dqa.guard.lists import AllowLists, lists
from dqa.guard.parsing import MARK, Parsed, function_name, parse
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.scope import SchemaScope
from dqa.guard.sql_names import require_columns
from dqa.guard.sql_sizes import require_short_arrays, require_short_values
from dqa.guard.tables import rewritten
from dqa.guard.text import dialect_of, read_text
from dqa.guard.visible import DESCRIBING, describing_form

QUERIES = (exp.Query, exp.Values, exp.Pivot, exp.Summarize)
"""The node classes that may be the root of a statement or of a WITH part."""
_APPLIED = (exp.Table, exp.Query, exp.Values, type(None))
_SAMPLES = frozenset({"bernoulli", "reservoir", "system"})
_VARIABLE = "it uses a session variable (@name); write the value itself, or use WITH"
_INSTEAD = {
    "Into": "it writes its result with INTO; leave out INTO, because the rows are returned anyway",
    "Lock": "it locks rows; leave out FOR UPDATE, FOR SHARE and LOCK",
    **dict.fromkeys(("Parameter", "PropertyEQ"), _VARIABLE),
}
_CATALOG_OPERATOR = re.compile(r"pg_catalog\.[-+*/<>=~!@#%^&|`?]+")
_PLAIN_NAME = re.compile(r"[\w $#-]+")
_VALUE_FUNCTIONS = frozenset(
    {
        *("current_catalog", "current_date", "current_role", "current_schema", "current_time"),
        *("current_timestamp", "current_user", "localtime", "localtimestamp", "session_user"),
        *("system_user", "user"),
    }
)
"""Functions that PostgreSQL also reads without brackets in FROM."""
_OPTION = (
    r"(?:(?:analy[sz]e|verbose|costs|settings|generic_plan|buffers|summary|timing|memory|wal)"
    r"(?: (?:true|false|on|off|1|0))?|format (?:text|xml|json|yaml|html|graphviz|mermaid))"
)
_EXPLAIN = re.compile(
    rf"(?:explain(?: query plan| \( ?{_OPTION}(?: ?, ?{_OPTION})* ?\)"
    r"|(?: (?:analy[sz]e|verbose|extended|partitions|format ?= ?\w+))*)"
    r"|(?:desc|describe|analyze)(?: (?:extended|format ?= ?\w+))*)\s*"
    r"(?=\(|(?:select|with|values|from|pivot|summarize)\b)",
    re.IGNORECASE,
)


def judge(statement: str, dialect: str, policy: Policy = DEFAULT) -> GuardVerdict:
    """Return the verdict on a statement, with the text that runs in its place.

    Raises
    ------
    Refusal
        The text is not a single query, or a part of the query is not on the allow-lists.
    """
    read = read_text(statement, dialect)
    prefix = _EXPLAIN.match(read.text)
    if dialect not in {"mysql", "mariadb"} and read.text[:7].lower() == "analyze":
        prefix = None  # in other dialects, ANALYZE writes
    if prefix is None and DESCRIBING.match(read.text):
        form = describing_form(read.text, dialect, policy)
        if form is not None:
            return GuardVerdict(True, statement=read.text, form=form)
    query = read if prefix is None else read_text(read.text[prefix.end() :], dialect)
    parsed = parse(query, dialect, policy.functions)
    if not isinstance(parsed.tree, QUERIES):
        raise Refusal(
            "only a query may run: SELECT, WITH ... SELECT, VALUES, or EXPLAIN of a query"
        )
    rules = _Rules(parsed, policy, dialect, lists(dialect), policy.scope)
    rules.check_classes()
    for node in parsed.nodes:
        rules.check(node)
    rules.check_names(query.tokens)
    require_short_values(parsed)
    if dialect == "postgres":
        require_short_arrays(parsed.nodes)
    if dialect in {"postgres", "mariadb", "ansi"}:
        require_columns(parsed, policy)
    text = rewritten(parsed, policy) if policy.restricts else parsed.text
    if prefix is None:
        return GuardVerdict(True, statement=text)
    # The plan of a query on a view names the tables and columns of the view.
    if policy.restricts:
        raise Refusal("the plan may show what the policy hides; run the query without EXPLAIN")
    return GuardVerdict(True, statement=read.text)


@dataclass
class _Rules:
    """The checks of one statement that need more than an allow-list."""

    parsed: Parsed
    policy: Policy
    dialect: str
    known: AllowLists
    scope: SchemaScope | None

    def check_classes(self) -> None:
        """Refuse classes of nodes, and then arguments of nodes, that are not on the list."""
        parts = self.known.parts
        names = [type(node).__name__ for node in self.parsed.nodes]
        for name, node in zip(names, self.parsed.nodes, strict=True):
            if name in parts or name in self.known["function classes"]:
                continue
            if name in lists("ansi")["function classes"]:
                raise Refusal(f"{name.upper()} is not supported in {self.dialect}")
            if isinstance(node, exp.Func):
                is_named = isinstance(node, exp.Anonymous)
                self._refuse_function(node.name if is_named else name.lower())
            problem = f"it contains {name.upper()}, but only reading is allowed"
            raise Refusal(_INSTEAD.get(name, problem))
        for name, node in zip(names, self.parsed.nodes, strict=True):
            for argument, value in node.args.items():
                is_filled = value not in (None, False, [])
                if is_filled and argument not in parts.get(name, node.args):
                    kind = argument.strip("_").upper()
                    raise Refusal(f"{kind} is not allowed in {name.upper()} here")

    def _refuse_function(self, name: str) -> None:
        hint = instead_of(name, self.dialect) or closest(name, self.known["functions"], 0.8)
        end = (
            f". {hint.strip()}" if hint else "; if it only reads, add it to the policy's functions"
        )
        raise Refusal(f"the function {name} is not in the list of functions that only read{end}")

    def check_names(self, tokens: Sequence[Token]) -> None:
        """Refuse ``NULL::object`` for a hidden type, which sqlglot reads as another type."""
        if self.dialect != "postgres" or not self.policy.restricts:
            return
        keywords, nodes = dialect_of(self.dialect).tokenizer_class.KEYWORDS, self.parsed.nodes
        found = {getattr(one.this, "name", "") for one in nodes if isinstance(one, exp.DataType)}
        starts = {one.meta_get("start") for one in nodes if isinstance(one, exp.Identifier)}
        for token in tokens:
            name, kind = token.text.casefold(), keywords.get(token.text.upper())
            is_type = token.start not in starts and kind is not None and kind.name in found
            # A quoted name is never a word of the language.
            is_word = token.token_type is not TokenType.IDENTIFIER
            if not is_type or (is_word and name.split()[0] in self.known["types of syntax"]):
                continue
            is_known = self._is_built_in(name) or name in self.policy.type_names
            if not is_known or self._is_hidden_row(name):
                raise _hidden_type(name)

    def check(self, node: exp.Expr) -> None:
        """Check a node by the rules of its class."""
        match node:
            case exp.Anonymous():
                self._check_function(node)
            case exp.DataType() if type(node) is exp.DataType:
                self._check_type(node)
            case exp.Table():
                self._check_table(node)
            case exp.TableAlias():
                self._check_alias(node)
            case exp.Collate(expression=exp.Column(parts=[*owner, _])):
                if [part.name.casefold() for part in owner] != ["pg_catalog"]:
                    self._refuse_outside(owner, "collation", node.expression.name)
            case _ if problem := self._problem_of(node):
                raise Refusal(problem)

    def _problem_of(self, node: exp.Expr) -> str:
        """Return the problem of a node of a rare class; empty if the node is allowed."""
        problem, name = "", node.name
        match node:
            case exp.ObjectIdentifier() if self.scope is not None or self.policy.restricts:
                problem = f"{name} describes objects that may not be read"
            case exp.SessionParameter() if name.lower() not in self.known["settings"]:
                problem = f"the system variable {name} may not be read"
            case exp.Parameter() if self.dialect != "postgres" or "@" not in self.parsed.text:
                problem = _VARIABLE  # in PostgreSQL the sign is an operator, as in ``@ -1``
            case exp.TableSample(args={"method": exp.Expr(name=name)}) if (
                name.lower() not in _SAMPLES
            ):
                problem = f"the sampling method {name} is not in the list of allowed methods"
            case exp.CTE() if not isinstance(node.this, QUERIES):
                problem = f"the WITH part '{node.alias}' is not a query"
            case exp.Operator() if not _CATALOG_OPERATOR.fullmatch(node.args["operator"]):
                problem = "OPERATOR(...) may only name an operator of pg_catalog"
            case exp.In(args={"field": exp.Expr()}) if self.dialect in {"sqlite", "ansi"}:
                # SQLite reads ``x IN name`` as a table, but the tree has no table node for it.
                problem = "IN needs a list or a query: write IN (SELECT column FROM table)"
            case exp.In(parent=exp.Pivot()) if node.args.get("field") is not None:
                problem = "PIVOT needs its values: write ON x IN (1, 2), not the name of a type"
            case exp.Pivot() if self._searches_values(node):
                # DuckDB finds the values by another statement, in which WITH parts are missing.
                problem = "PIVOT needs its values after this WITH: write ON x IN (1, 2)"
            case exp.Pivot() | exp.Summarize() if not isinstance(node.this, _APPLIED):
                # DuckDB would read a text in this position as the name of a file.
                problem = f"{type(node).__name__.upper()} needs a table or a query, not text"
        return problem

    def _searches_values(self, node: exp.Pivot) -> bool:
        """Return whether DuckDB could find the values of a PIVOT without the parts of WITH."""
        parts = [one for one in self.parsed.nodes if isinstance(one, exp.With)]
        if self.dialect != "duckdb" or node.args.get("unpivot") or not parts:
            return False
        values = node.args.get("fields") or node.expressions
        is_listed = all(isinstance(one, exp.In) for one in values)
        is_nested = len(parts) > 1 or bool(parts[0].args.get("recursive"))
        return any(one.find(exp.Query) for one in values) or (is_nested and not is_listed)

    def _refuse_outside(self, owner: Sequence[exp.Expr], what: str, name: str) -> None:
        """Refuse an object whose schema is, or could be, outside of the schema scope."""
        schema = ".".join(part.name for part in owner)
        is_named = schema.casefold() in (self.policy.schemas or ())
        if owner and self.scope is not None and not is_named and not self._is_own(owner):
            own = self.scope.own
            raise Refusal(f"the {what} {schema}.{name} is outside of {own}; only {own} may be read")

    def _is_own(self, owner: Sequence[exp.Expr]) -> bool:
        # In PostgreSQL, only the name of the current database may precede the schema.
        if self.scope is None or (len(owner) > 1 and self.dialect != "postgres"):
            return False
        is_quoted = bool(owner[-1].args.get("quoted"))
        return self.scope.holds(owner[-1].name, self.dialect, quoted=is_quoted)

    # Functions

    def _check_function(self, node: exp.Anonymous) -> None:
        """Refuse a function whose name is not on the list."""
        name = str(node.this).removeprefix(MARK).lower()
        if not str(node.this).startswith(MARK) and name not in self.known["special functions"]:
            self._refuse_function(str(node.this))
        owner, parent = "", node.parent
        if isinstance(parent, exp.Dot) and parent.expression is node:
            owner = parent.this.name.lower() if isinstance(parent.this, exp.Identifier) else "?"
        elif isinstance(parent, exp.Table) and parent.this is node:
            owner = parent.db.lower()
        full = f"{owner}.{name}" if owner else name
        if full in self.policy.functions:
            return
        is_own = not owner or (self.dialect == "postgres" and owner == "pg_catalog")
        if name not in self.known["functions"] or not (is_own or self.dialect == "duckdb"):
            self._refuse_function(full)
        # To compare the result of pg_typeof with a text, PostgreSQL looks up the type in the text.
        shown = parent.parent if isinstance(parent, exp.Alias) else parent
        is_text = isinstance(parent, exp.Cast) and parent.is_type("text", "varchar")
        is_typed = name == "pg_typeof"
        is_shown = is_typed and (is_text or shown is self.parsed.tree)
        is_outside = name in self.known["functions that look outside"] and not is_shown
        if is_outside and (self.scope is not None or self.policy.restricts):
            hint = "; write pg_typeof(x)::text" if is_typed else ""
            raise Refusal(f"the function {full} could refer to objects that may not be read{hint}")
        if name in self.known["functions of settings"]:
            known = self.known["settings"]
            first = node.expressions[0] if node.expressions else None
            if not isinstance(first, exp.Literal) or first.name.lower() not in known:
                raise Refusal(f"{name} may read only allowed settings, such as 'server_version'")

    # Tables

    def _check_table(self, node: exp.Table) -> None:
        """Refuse system tables, tables outside of the schema scope, and names of files."""
        if not isinstance(node.this, exp.Identifier):
            self._check_source(node)
            return
        name, schema = node.name.lower(), node.db.lower()
        is_plain = not (schema or node.this.args.get("quoted"))
        if self.dialect == "postgres" and is_plain and name in _VALUE_FUNCTIONS:
            raise Refusal(f"{name} may not be used in FROM; write SELECT {name}")
        if id(node) not in self.parsed.tables:
            return  # a reference to a WITH part
        if name.startswith(TABLE_PREFIX) and not self.policy.allows_table(name, schema):
            raise Refusal(
                f"the table {name} belongs to a run store; to read it, list it in the policy's "
                "tables"
            )
        # PostgreSQL searches the catalogue first, so a table pg_class of the user needs its schema.
        is_shadowed = not schema and name.startswith("pg_") and self._is_built_in(name)
        is_own = name.casefold() in self.policy.visible_tables
        is_known = is_own and not is_shadowed
        if self.dialect == "duckdb" and not is_known:
            self._refuse_file(node)
        full = f"{schema}.{name}" if schema else name
        listed = {full, f"pg_catalog.{full}"} & self.known["tables"]
        listed |= {name} & self.known["tables"] if schema in {"main", "temp"} else set()
        is_system = (
            schema in self.known["system schemas"]
            or name.startswith(tuple(self.known["system prefixes"]))
            or schema.startswith("pg_toast")
            or name in self.known["refused tables"]
        )
        if is_system and not listed and not is_known:
            hint = closest(full, self.known["tables"], 0.7)
            own = "; write its schema before its name" * is_own
            raise Refusal(f"the system table {full} may not be read{own}.{hint}".rstrip(".?"))
        if self.scope is not None:
            is_catalogue = bool(listed) or name in self.known["tables that look outside"]
            self._check_schema(node, self.scope, is_known=is_known, is_catalogue=is_catalogue)

    def _check_schema(
        self, node: exp.Table, scope: SchemaScope, *, is_known: bool, is_catalogue: bool
    ) -> None:
        """Refuse a table whose schema is, or could be, outside of the schema scope."""
        owner, name = node.parts[:-1], node.name
        schema = ".".join(part.name for part in owner).casefold()
        if f"{schema}.{name.casefold()}" not in (self.policy.tables or ()):
            self._refuse_outside(owner, "table", name)
        # In DuckDB, the schema main contains views of the catalogue.
        is_found = not owner or (self.dialect == "duckdb" and self._is_own(owner))
        if is_catalogue and not is_known and is_found:
            raise Refusal(
                f"the catalogue {name} may not be read, because it also describes objects outside "
                f"of {scope.own}; use SHOW TABLES or DESCRIBE instead"
            )
        if not owner and scope.finds_others and not (is_known and scope.finds_own_first):
            hint = closest(name, self.policy.visible_tables) if not is_known else ""
            full = f"{next(iter(sorted(scope.schemas)), 'SCHEMA')}.{name}"
            problem = (
                f"the name {name} could refer to a table outside of {scope.own}; write "
                f"{full}.{hint}"
            )
            raise Refusal(problem.rstrip(".?"))

    def _check_source(self, node: exp.Table) -> None:
        """Refuse a function that may not be used in FROM."""
        source = node.this.expression if isinstance(node.this, exp.Dot) else node.this
        if source is None and node.args.get("rows_from"):
            return
        if not isinstance(source, exp.Func):
            raise Refusal("the name of a table must be a plain name, not a variable or parameter")
        name, allowed = function_name(node), self.known["table functions"]
        if allowed and name.lower() not in allowed | self.policy.functions:
            raise Refusal(f"the function {name} may not be used in FROM")
        owner = [part for part in (node.args.get("catalog"), node.args.get("db")) if part]
        self._refuse_outside(owner, "function", name)

    def _refuse_file(self, node: exp.Table) -> None:
        """Refuse a name that DuckDB would read as a file, or as a statement: ``FROM (SHOW t)``."""
        is_plain = all(_PLAIN_NAME.fullmatch(part.name) for part in node.parts)
        if not is_plain or (node.db and node.name.lower() in self.known["file endings"]):
            name = ".".join(part.name for part in node.parts)
            raise Refusal(f"'{name}' would be opened as a file; write the name of a table")
        before = self.parsed.text[: node.parts[0].meta.get("start", 0)].rstrip()
        if before.endswith("(") and not node.db and not node.this.args.get("quoted"):
            raise Refusal(
                f"({node.name.upper()} ...) is not a query; if {node.name} is a table, quote it"
            )

    def _check_alias(self, node: exp.TableAlias) -> None:
        """Refuse a column alias that is not a plain name: a database could read it as a call."""
        columns = node.args.get("columns") or []
        has_types = self.dialect == "postgres"  # AS x(a int, b text)
        names = [c.this if has_types and isinstance(c, exp.ColumnDef) else c for c in columns]
        starts = (self.parsed.text[name.meta.get("start", 0) :] for name in names)
        is_plain = all(isinstance(name, exp.Identifier) for name in names)
        is_plain &= all(re.match(r'[^\W\d]|["`[]', start) for start in starts)
        if columns and not (is_plain and (node.this is not None or has_types)):
            raise Refusal(f"'{node.name}(...)' is not an alias; write AS x(a, b) with plain names")

    # Types

    def _check_type(self, node: exp.DataType) -> None:
        """Refuse a type that may be outside of the scope.

        PostgreSQL has a type for each table. The name of a type could therefore reveal a hidden
        table.
        """
        if node.this != exp.DType.USERDEFINED or not node.args.get("kind"):
            return
        kind = node.args["kind"]
        text = kind.sql(dialect_of(self.dialect)) if isinstance(kind, exp.Expr) else str(kind)
        *owner, last = exp.to_table(text, dialect=dialect_of(self.dialect)).parts
        name = last.name.lower()
        if node.expressions and name not in self.known["types"]:
            raise Refusal(f"the type {name} may not have a size here; leave out the brackets")
        has_row_types = self.dialect == "postgres" and self.policy.restricts
        if self.scope is None and not has_row_types:
            return
        known = self.policy.type_names
        is_own = bool(owner) and [part.name.lower() for part in owner] != ["pg_catalog"]
        if is_own:
            self._refuse_outside(owner, "type", name)
        if not (is_own and has_row_types):
            known |= self.known["types"] | self.known["types before a string"]
        if name not in known or self._is_hidden_row(name, owner[-1].name if is_own else ""):
            raise _hidden_type(name)

    def _is_hidden_row(self, name: str, schema: str = "") -> bool:
        """Return whether the name of a type could be the row type of a hidden table."""
        policy = self.policy
        if self.dialect != "postgres" or name not in policy.known_tables:
            return False
        is_listed = policy.allows_table(name, schema) if schema else not policy.owner_of(name)
        is_shown = is_listed and name in policy.type_names
        return not (is_shown or (not schema and self._is_built_in(name)))

    def _is_built_in(self, name: str) -> bool:
        """Return whether PostgreSQL has a type or table of this name: then it has a type _name."""
        return self.dialect == "postgres" and f"_{name}" in self.known["names that call"]


def _hidden_type(name: str) -> Refusal:
    return Refusal(f"the type {name} is not a type of the visible schema")
