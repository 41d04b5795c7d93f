"""Parse a statement with sqlglot so that the tree contains everything in the statement.

sqlglot has a class for most functions. It renames these functions and drops surplus arguments. The
guard therefore adds a mark to the names of allowed functions. sqlglot does not know the marked
names, so the tree contains each name and all arguments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError

from dqa.guard.check import SEVERAL, Refusal
from dqa.guard.hints import instead_of
from dqa.guard.lists import AllowLists, lists
from dqa.guard.scope import fold
from dqa.guard.text import StatementText, dialect_of

MARK = "\u0192"
"""The mark before the name of an allowed function in the tree; no other name may contain it."""
_MOST_TOKENS = 4_000
_DEEPEST = 50
"""The maximum depth of nested brackets and CASEs."""
_LONGEST_RUN = 30
"""The maximum number of consecutive operators and brackets without a value between them."""
_LONGEST_CHAIN = 24
"""The maximum length of a chain of calls or subscripts. sqlglot copies the chain at each step."""
_MOST_OF = {
    TokenType.JOIN: 80,
    TokenType.UNION: 200,
    TokenType.EXCEPT: 200,
    TokenType.INTERSECT: 200,
    TokenType.SELECT: 400,
}
_SPARE_NODES, _NODES = 500, 2
"""The maximum number of nodes that sqlglot may create: a constant, plus a number for each token."""
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_STRINGS = frozenset(kind for kind in TokenType if kind.name.endswith("STRING"))
_QUOTED = _STRINGS | {TokenType.IDENTIFIER}
_LONGEST_NAME = 63
"""PostgreSQL cuts a name after this number of bytes."""
_CHAINING = _CLOSING | _NAMES | {TokenType.DOT}
"""Tokens before a bracket that continues a chain of calls or subscripts."""
_VALUES = frozenset(
    {*_NAMES, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN, TokenType.R_BRACKET}
)
"""Tokens that end a value. A name and a bracket after such a token are an alias, not a call."""
_COMPARISONS = frozenset({TokenType.GT, TokenType.LT, TokenType.GTE, TokenType.LTE})
_CLAUSES = frozenset(
    {
        *(TokenType.HAVING, TokenType.ORDER_BY, TokenType.OFFSET, TokenType.R_PAREN),
        *(TokenType.UNION, TokenType.GROUP_BY, TokenType.LIMIT),
    }
)
"""Tokens that end the preceding clause."""
_OPERATORS = frozenset(
    {
        *(TokenType.DPIPE, TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH),
        *(TokenType.EQ, TokenType.NEQ, *_COMPARISONS, TokenType.AMP, TokenType.PIPE),
        *(TokenType.CARET, TokenType.DIV, TokenType.MOD),
    }
)
_BRACES = (TokenType.L_BRACE, TokenType.R_BRACE)
_DATE = [TokenType.L_BRACE, TokenType.STRING, TokenType.R_BRACE]
"""The tokens of ``{d '2024-01-01'}`` except the word ``d``."""
_ROWS = [TokenType.ALIAS, TokenType.L_PAREN, TokenType.VALUES]
"""The tokens before the rows of a part of WITH."""
_COLUMN_OPTIONS = [
    [TokenType.DEFAULT, kind, TokenType.ON] for kind in (TokenType.STRING, TokenType.NUMBER)
]
"""The tokens before EMPTY or ERROR in an option of a column of JSON_TABLE."""
_TEXTS = (
    *(exp.Anonymous, exp.BitString, exp.ByteString, exp.HexString, exp.Identifier, exp.Literal),
    *(exp.National, exp.RawString, exp.UnicodeString, exp.JSONPathPart, exp.Placeholder),
)
_CLASS = re.compile(r"<class '[\w.]*\.(\w+)'>")


@dataclass(frozen=True)
class Parsed:
    """A parsed statement.

    Attributes
    ----------
    text, dialect, tree
        The statement as it runs, its dialect, and its tree.
    nodes
        All nodes of the tree, parents first.
    joins
        The names of joins. ``USING (x) AS both`` gives a join the name ``both``.
    tables
        Maps the `id` of a node to the table that it names. References to the parts of WITH are not
        included.
    """

    text: str
    dialect: str
    tree: exp.Expr
    nodes: Sequence[exp.Expr]
    joins: frozenset[str]
    tables: Mapping[int, exp.Table]


def called(node: object) -> str:
    """Return the name of the called function; empty if sqlglot has a class for the function."""
    return str(node.this).removeprefix(MARK) if isinstance(node, exp.Anonymous) else ""


def function_name(node: exp.Expr) -> str:
    """Return the name of a function in FROM."""
    function = node.this.expression if isinstance(node.this, exp.Dot) else node.this
    name = function.this if isinstance(function, exp.Anonymous) else type(function).__name__
    return str(name).removeprefix(MARK)


def _is_part(table: exp.Table, dialect: str) -> bool:
    """Return whether the name of `table` refers to a common table expression in scope.

    Return False if the database could resolve the name to a table.
    """
    node: exp.Expr | None = table.parent
    below: exp.Expr = table
    name = spelled(table.this, dialect)
    while node is not None and not table.db:
        parts: list[exp.Expr] = []
        if isinstance(node, exp.With):
            own = next(n for n, part in enumerate(node.expressions) if part is below)
            # Within the definition of a part, the part's own name means the part only with
            # RECURSIVE. In DuckDB it must also be in the second half of a UNION. Otherwise it may
            # mean a table. In MariaDB, the name of a later part may mean a table, too.
            union, is_own = below.this, bool(node.args.get("recursive"))
            if dialect not in {"sqlite", "mysql", "mariadb"}:
                is_own = is_own and isinstance(union, exp.Union) and not union.args.get("by_name")
                is_own = is_own and any(found is table for found in union.expression.walk())
            if name in _names_of(node.expressions[own:], dialect):
                return is_own and name in _names_of([below], dialect)
            parts = node.expressions[:own]
        elif (found := node.args.get("with_")) is not None and found is not below:
            parts = found.expressions
        if name in _names_of(parts, dialect):
            return True
        below, node = node, node.parent
    return False


def _names_of(parts: Sequence[exp.Expr], dialect: str) -> set[str]:
    return {spelled(part.args["alias"].this, dialect) for part in parts}


def spelled(name: exp.Expr, dialect: str) -> str:
    """Return the name of an identifier as the database spells it."""
    is_exact = bool(name.args.get("quoted")) or dialect in {"mysql", "mariadb"}
    return name.name if is_exact else fold(name.name)


def parse(read: StatementText, dialect: str, functions: frozenset[str] = frozenset()) -> Parsed:
    """Return the tree of a statement.

    The statement may call the functions of the guard's list and the `functions` of the policy.

    Raises
    ------
    Refusal
        The text cannot be parsed, contains several statements, or is too large.
    """
    text, tokens = read
    if any(MARK in token.text for token in tokens if token.token_type in _NAMES):
        raise Refusal(f"a name contains the letter {MARK}, which is not supported")
    names = (token.text for token in tokens if token.token_type in _NAMES)
    if dialect == "postgres" and any(len(name.encode()) > _LONGEST_NAME for name in names):
        raise Refusal(f"a name is longer than {_LONGEST_NAME} bytes: shorten it")
    known = lists(dialect)
    _refuse_too_large(tokens)
    allowed = known["functions"] | {name.rpartition(".")[2] for name in functions}
    joins: set[str] = set()
    adapted = [*_adapted(tokens, dialect, allowed, known, joins)]
    # MySQL reads VALUES ROW(...); MariaDB reads VALUES (...), as ANSI SQL does.
    kinds = [token.token_type for token in adapted]
    is_rows = kinds[0] is TokenType.VALUES or any(
        kinds[number : number + 3] == _ROWS for number in range(len(kinds))
    )
    reader = "ansi" if dialect == "mariadb" and is_rows else dialect
    parser = dialect_of(reader).parser(max_nodes=_SPARE_NODES + _NODES * len(adapted))
    try:
        trees = parser.parse(adapted, text)
    except ParseError as error:
        raise Refusal(f"it cannot be read as {dialect}: {_problem(error)}") from error
    tree = trees[0] if len(trees) == 1 else None
    if tree is None:
        raise Refusal(SEVERAL)
    nodes = tuple(tree.walk())
    found = [node for node in nodes if isinstance(node, exp.Table)]
    # Functions in FROM are also nodes of the class Table.
    tables = {id(node): node for node in found if isinstance(node.this, exp.Identifier)}
    if any(isinstance(node, exp.With) for node in nodes):
        tables = {key: node for key, node in tables.items() if not _is_part(node, dialect)}
    parsed = Parsed(text, dialect, tree, nodes, frozenset(joins), tables)
    left_out = _left_out(parsed, adapted, known)
    if left_out:
        raise Refusal(
            f"'{left_out}' is not supported here; check the number of arguments of the function, "
            f"or leave out this option. {instead_of(left_out, dialect)}".rstrip(". ")
        )
    return parsed


def _adapted(
    tokens: Sequence[Token],
    dialect: str,
    allowed: frozenset[str],
    known: AllowLists,
    joins: set[str],
) -> Iterator[Token]:
    """Yield the tokens for sqlglot: mark allowed calls, and omit words that sqlglot does not know.

    The omitted words are harmless, and remain in the text for the database. The names of joins, as
    in PostgreSQL's ``USING (x) AS name``, are added to `joins`.
    """
    words = known.syntax | known["options"] | known["words that change nothing"]
    allowed -= known["special functions"]
    ends_value = [
        token.token_type in _VALUES
        and not (token.token_type is TokenType.VAR and token.text.lower() in words)
        for token in tokens
    ]
    ends_value = [False, False, *ends_value]  # ends_value[i + 2] describes tokens[i]
    clause: TokenType | None = None
    brackets: list[TokenType] = []
    closed: TokenType | None = None  # the token before the bracket that was just closed
    is_mysql, join_name = dialect in {"mysql", "mariadb"}, -1
    unread = _unread_by_mysql(tokens) if is_mysql else set()
    for number, token in enumerate(tokens):
        before, after = tokens[max(number - 1, 0)], tokens[min(number + 1, len(tokens) - 1)]
        kind, text = token.token_type, token.text
        # sqlglot reads neither E'...' after ESCAPE nor an array in ALL (...).
        is_escape = before.token_type is TokenType.ESCAPE and kind is TokenType.BYTE_STRING
        kind = TokenType.STRING if is_escape else kind
        is_all = before.token_type in _OPERATORS and kind is TokenType.ALL
        kind, text = (TokenType.ANY, "ANY") if is_all else (kind, text)
        clause = kind if kind in _CLAUSES else clause
        opened_by, closed = closed, None
        if kind is TokenType.L_PAREN:
            brackets.append(before.token_type)
        elif kind is TokenType.R_PAREN and brackets:
            closed = brackets.pop()
        if dialect == "postgres":
            is_named = kind is TokenType.ALIAS and opened_by is TokenType.USING
            if is_named and after.token_type in _NAMES:
                join_name = number + 1
                joins.add(after.text.casefold())
            if join_name in {number, number + 1} or _is_postgres_word(before, token, after, known):
                continue
        elif number in unread or (is_mysql and _is_mysql_word(before, token, clause, known)):
            continue
        name = text if kind is TokenType.IDENTIFIER else text.lower()
        if after.token_type is TokenType.L_PAREN and name in allowed:
            # A name after `SELECT *` is not a call, but a name after `2 *` may be one.
            is_star = before.token_type is TokenType.STAR and not ends_value[number]
            is_type = before.token_type in {TokenType.ALIAS, TokenType.DCOLON}
            if not (is_star or is_type or ends_value[number + 1]):
                kind, text = TokenType.VAR, MARK + name
        elif opened_by is TokenType.IN and kind in _OPERATORS:
            kind, text = TokenType.AND, "AND"  # sqlglot reads no operator after IN (...)
        elif clause is TokenType.LIMIT and kind is TokenType.MOD and after.token_type in _VALUES:
            kind, text = TokenType.STAR, "*"  # sqlglot reads LIMIT a % b as a percentage
        yield Token(kind, text, token.line, token.col, token.start, token.end, [])


def _is_postgres_word(before: Token, token: Token, after: Token, known: AllowLists) -> bool:
    """Return whether a word is unknown to sqlglot, e.g. USING in ``ORDER BY x USING >``."""
    kind, name = token.token_type, token.text.lower()
    if kind in _QUOTED or before.token_type is TokenType.DOT:
        return False
    is_type = after.token_type is TokenType.STRING and before.token_type not in _NAMES
    return (
        name == "symmetric"
        or (is_type and name in known["types before a string"])
        or (kind is TokenType.USING and after.token_type in _COMPARISONS)
        or (before.token_type is TokenType.USING and kind in _COMPARISONS)
        or (name == "@" and after.token_type not in _NAMES)
    )


def _is_mysql_word(
    before: Token, token: Token, clause: TokenType | None, known: AllowLists
) -> bool:
    """Return whether a word is unknown to sqlglot, e.g. SQL_NO_CACHE."""
    kind, name = token.token_type, token.text.lower()
    if kind in _BRACES:
        raise Refusal("braces may contain only a date or a time, as in {d '2024-01-01'}")
    if kind in _QUOTED:
        return False
    is_order = clause is TokenType.GROUP_BY and kind in {TokenType.ASC, TokenType.DESC}
    is_time = before.text.lower() == "of" and name in {"timestamp", "transaction"}
    return is_order or is_time or name in known["words that change nothing"]


def _unread_by_mysql(tokens: Sequence[Token]) -> set[int]:
    """Return the positions of tokens that sqlglot cannot read in MySQL's dialects.

    These are the markers around a date or time (``{d '2024-01-01'}``), and the options of a column
    of JSON_TABLE (``DEFAULT 'x' ON EMPTY``).
    """
    kinds = [token.token_type for token in tokens]
    found = set[int]()
    for number, token in enumerate(tokens[1:]):
        word = token.text.lower()
        if [kinds[number], *kinds[number + 2 : number + 4]] == _DATE and word in {"d", "t", "ts"}:
            found |= {number, number + 1, number + 3}
        is_option = kinds[number - 2 : number + 1] in _COLUMN_OPTIONS and number > 1
        if is_option and word in {"empty", "error"}:
            found |= {*range(number - 2, number + 2)}
    return found


def _refuse_too_large(tokens: Sequence[Token]) -> None:
    """Refuse a statement that sqlglot can only parse by deep recursion or many attempts."""
    counts = Counter(token.token_type for token in tokens)
    if len(tokens) > _MOST_TOKENS or any(counts[kind] > most for kind, most in _MOST_OF.items()):
        raise Refusal("it is too long or has too many parts; write a shorter statement")
    run, chains = 0, [0]
    before = tokens[0].token_type
    for token in tokens:
        kind = token.token_type
        is_value = kind in _VALUES or kind is TokenType.COMMA
        run = 0 if is_value else run + (kind not in _OPENING)
        if kind in _OPENING:
            if before not in _CHAINING:
                chains[-1] = 0
            chains.append(0)
        elif kind in _CLOSING and len(chains) > 1:
            chains.pop()
            chains[-1] += 1
        elif kind is TokenType.COMMA:
            chains[-1] = 0
        before = kind
        if len(chains) > _DEEPEST or run > _LONGEST_RUN or chains[-1] > _LONGEST_CHAIN:
            raise Refusal("it is nested too deeply; move inner queries to WITH")


def _left_out(parsed: Parsed, tokens: Sequence[Token], known: AllowLists) -> str:
    """Return a name, call or query of the text that the tree lacks; empty if nothing is missing."""
    names = [node for node in parsed.nodes if isinstance(node, exp.Identifier)]
    starts = {node.meta_get("start") for node in names}
    aliases = {node.meta_get("start") for node in names if isinstance(node.parent, exp.TableAlias)}
    found = Counter(
        word
        for node in parsed.nodes
        if not isinstance(node, _TEXTS)
        for value in node.args.values()
        if isinstance(value, str)
        for word in re.findall(r"[\w$]+", value.lower())
    )
    found.update(node.name.lower() for node in parsed.nodes if isinstance(node, exp.Anonymous))
    written: Counter[str] = Counter()
    words = known.syntax | known["options"]
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        name = token.text.lower().rpartition(" ")[2]
        is_name = token.token_type in _NAMES
        is_call = after is not None and after.token_type is TokenType.L_PAREN
        # A database may read a word of sqlglot before "(" as a function.
        is_word = is_call and not is_name and name[:1].isalpha() and token.start not in aliases
        is_known = (is_word or token.token_type is TokenType.VAR) and name in words
        is_known |= is_call and name in known["special functions"]
        if (is_word or (is_name and token.start not in starts)) and not is_known:
            written[name] += 1
    found["SELECT"] = sum(isinstance(node, exp.Select) for node in parsed.nodes)
    written["SELECT"] = sum(token.token_type is TokenType.SELECT for token in tokens)
    return next((name.removeprefix(MARK) for name in written if written[name] > found[name]), "")


def _problem(error: ParseError) -> str:
    if str(error).startswith("Maximum number of AST nodes"):
        return (
            "it can be read in too many ways; use fewer levels of brackets, and move inner "
            "queries to WITH"
        )
    first = error.errors[0] if error.errors else {}
    near = f" (line {first.get('line')}, near '{first.get('highlight') or ''}')" if first else ""
    problem = str(first.get("description") or str(error).splitlines()[0])
    return _CLASS.sub(lambda match: match[1].upper(), problem).rstrip(".") + near
