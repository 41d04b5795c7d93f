"""The candidates of a question, from a few to very many.

A long list that a statement gives is not held: it is counted, its first rows are shown, and names
are looked up in it, by statements around that one. Where no statement can be put around another
(graphs, columns of one name), and where a scenario's outcomes name every candidate anyway, the list
is held as it is, and searched without an index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from dqa.core.database import Database, Limits
from dqa.core.display import candidate_name
from dqa.core.errors import DataError, QueryError, UsageError
from dqa.core.question import MOST_CANDIDATES, Candidate, Question
from dqa.core.schema import sql_name
from dqa.scenarios.embedded import LISTING, first_column
from dqa.scenarios.statements import sql_literal

MOST_INDEXED = 10_000
"""Candidates up to which a list is held whole, and answers are compared with every name of it."""
_FIRST = 1_000
"""How many of a longer list are known by name."""
_TEXTS = {"mariadb": "CHAR", "mysql": "CHAR"}
"""The type of a text in a CAST, if it is not VARCHAR."""
_LONGEST, _MOST_SAID = 1_000, 8_000
"""Characters of the longest text that is looked up, and of all those that one statement names."""
_LOOKING = Limits(rows=MOST_INDEXED, bytes=LISTING.bytes, seconds=LISTING.seconds)


@dataclass(frozen=True, slots=True)
class Choices:
    """The candidates.

    Attributes
    ----------
    total
        How many candidates there are.
    first
        The first of them; all, where there are few.
    held
        All of them; None where they are looked up.
    statement
        What lists them, where a statement does.
    column
        What that statement calls them.
    database
        Where it is asked.
    """

    total: int
    first: tuple[Candidate, ...]
    held: tuple[Candidate, ...] | None = field(repr=False)
    statement: str | None = None
    column: str = ""
    database: Database | None = field(default=None, repr=False)

    @property
    def is_large(self) -> bool:
        """Whether there are more than are compared with an answer name by name."""
        return self.total > MOST_INDEXED

    @property
    def names(self) -> tuple[Candidate, ...]:
        """All of them, if the list is short; none of a long one."""
        return () if self.is_large or self.held is None else self.held

    def among(self, texts: AbstractSet[str]) -> tuple[Candidate, ...]:
        """Return the candidates that are spelled as one of these texts, asked of the database.

        Raises
        ------
        UsageError, InfrastructureError
            The statement can no longer run, or the database failed.
        """
        if self.held is not None or self.database is None or self.statement is None:
            return mentioned(self.held or (), texts)
        cast = f"CAST({self.column} AS {_TEXTS.get(self.database.dialect, 'VARCHAR')})"
        found: dict[Candidate, None] = {}
        for literals in _batches(texts):
            where = f"WHERE {cast} IN ({', '.join(literals)})"
            statement = f"SELECT {self.column} {_around(self.statement)} {where}"
            among = _listed(self.database, statement, _LOOKING, "The search among the candidates")
            found.update(dict.fromkeys(among))
        return mentioned(tuple(found), texts)  # a server may take other spellings for the same

    def all(self) -> tuple[Candidate, ...]:
        """Return every one, which may take a while and some memory.

        Raises
        ------
        UsageError, InfrastructureError
            As `among` does.
        """
        if self.held is not None or self.database is None or self.statement is None:
            return self.held or ()
        return listed_whole(self.statement, self.database)


def mentioned(candidates: Sequence[Candidate], texts: AbstractSet[str]) -> tuple[Candidate, ...]:
    """Return the candidates that are spelled as one of these texts.

    A column of a fixed width pads its texts with spaces.
    """
    return tuple(one for one in candidates if str(one) in texts or str(one).rstrip(" ") in texts)


def choices_of(question: Question, database: Database) -> Choices | None:
    """Return the candidates in a question's list or of its statement; None without both.

    Raises
    ------
    UsageError, InfrastructureError
        As `listed_choices` raises them.
    """
    if question.candidates is not None:
        held = question.candidates
        return Choices(len(held), held[:_FIRST], held, question.candidate_query)
    if question.candidate_query is None:
        return None
    return listed_choices(question.candidate_query, database)


def listed_choices(
    statement: str, database: Database, called: str = "The query of the candidates"
) -> Choices:
    """Return the values in the first column of a statement, each once, without NULL.

    Parameters
    ----------
    statement
        SQL or Cypher.
    database
        The database.
    called
        The name of the statement in errors.

    Raises
    ------
    UsageError
        It cannot run, or lists more than `MOST_CANDIDATES`.
    InfrastructureError
        The database failed.
    """
    try:
        rows = database.query(statement, _LOOKING)
    except QueryError as error:
        told = DataError(f"{called} cannot run: {error}")
        told.__cause__ = error
        raise UsageError(str(told)) from told
    few = tuple(
        dict.fromkeys(candidate_name(row[0]) for row in rows.rows if row and row[0] is not None)
    )
    if rows.cut is None:
        return Choices(len(few), few, few, statement)
    plain = all(isinstance(row[0], str | int) for row in rows.rows if row[0] is not None)
    # Their spelling is the database's, and so is only looked up where it is told by no conversion.
    if database.kind == "relational" and plain and rows.columns:
        column = _spelled(database, rows.columns[0])
        counting = f"SELECT COUNT(DISTINCT {column}) {_around(statement)}"
        try:
            ((total,),) = database.query(counting, _LOOKING).rows
        except QueryError:
            pass  # such as two columns of one name, which nothing can be put around
        else:
            count = int(str(total))
            _refuse_too_many(count, called)
            if count <= MOST_INDEXED:
                held = listed_whole(statement, database, called)
                return Choices(len(held), held, held, statement)
            return Choices(count, few[:_FIRST], None, statement, column, database)
    held = listed_whole(statement, database, called)
    return Choices(len(held), held[:_FIRST], held, statement)


def listed_whole(
    statement: str, database: Database, called: str = "The query of the candidates"
) -> tuple[Candidate, ...]:
    """Return every candidate that a statement lists; raises what `listed_choices` raises."""
    return _listed(database, statement, LISTING, called)


def _refuse_too_many(count: int, called: str) -> None:
    if count > MOST_CANDIDATES:
        raise UsageError(
            f"{called} lists {count:,} candidates, and no decision is made between more than "
            f"{MOST_CANDIDATES:,}: narrow it by a WHERE, or let it list what is above them, such "
            "as groups."
        )


def _listed(
    database: Database, statement: str, limits: Limits, called: str
) -> tuple[Candidate, ...]:
    try:
        cells = first_column(database, statement, limits, called)
    except DataError as error:
        # The user wrote the statement; it is not part of the data.
        raise UsageError(str(error)) from error
    return tuple(dict.fromkeys(map(candidate_name, cells)))


def _batches(texts: AbstractSet[str]) -> Iterator[list[str]]:
    """Yield texts as literals, as many together as a statement has room for.

    A model may write anything: what no statement can hold is no candidate's name, and left out.
    """
    batch: list[str] = []
    size = 0
    for text in sorted(texts):
        literal = _literal(text)
        if literal is None:
            continue
        if batch and size + len(literal) > _MOST_SAID:
            yield batch
            batch, size = [], 0
        batch.append(literal)
        size += len(literal)
    if batch:
        yield batch


def _literal(text: str) -> str | None:
    if not text or len(text) > _LONGEST or any(0xD800 <= ord(sign) < 0xE000 for sign in text):
        return None
    try:
        return sql_literal(text)
    except DataError:
        return None


def _around(statement: str) -> str:
    """Return what selects from a statement's rows; a remark may end it."""
    return f"FROM (\n{statement.strip().rstrip(';')}\n) AS listed"


def _spelled(database: Database, name: str) -> str:
    """Return a column's name as the database's SQL spells it, in quotes where these are known."""
    if database.dialect == "ansi":
        return sql_name(name)
    from dqa.databases.tables import quote

    return quote(database.dialect, name)
