"""A scenario's statements tried on a live database, each within bounds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from dqa.core.database import Database, Limits, Rows
from dqa.core.errors import (
    DataError,
    QueryError,
    RefusedStatementError,
    StatementTimeoutError,
    UnknownReferenceError,
)
from dqa.core.schema import EdgeInfo, NodeInfo, cypher_name
from dqa.databases.tables import quote_if_needed
from dqa.loaders.inspection.findings import Findings, nearest, said, swapped_all
from dqa.loaders.inspection.quoting import taken_for_texts, with_quotes, without_texts
from dqa.scenarios import Scenario
from dqa.scenarios.statements import SUFFIXES, Values, filled, read_lines

_MENDED = 8
"""Names of one statement that are mended to find what else is wrong with it."""
_OFFERS = re.compile(r"did you mean|perhaps you meant", re.IGNORECASE)
_NEAR = re.compile(r"""\bnear ['"]+(\w+)""")
_UNREAD = re.compile(r"syntax error|SQL syntax|parser exception|invalid input", re.IGNORECASE)
_LINE = re.compile(r"\bline:? (\d+)", re.IGNORECASE)
_PROPERTY = re.compile(r"(?<=[\w)`])\.([^\W\d]\w*)(?!\w*[(.])")
_LABEL = re.compile(r"(?<=[(\w\[|:]):([^\W\d]\w*)|(?<=[(\[|]):([^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Written:
    """A statement of a folder: its file, the line that it begins in, and its text."""

    file: str
    line: int
    template: Template

    @property
    def text(self) -> str:
        """The template's text."""
        return self.template.template


@dataclass(slots=True)
class StatementTrial:
    """Runs statements of one scenario; what is wrong with them is found.

    Attributes
    ----------
    scenario, database
        Whose they are, and what runs them.
    found
        Where findings go.
    seconds
        What each may take.
    count
        How many were run.
    """

    scenario: Scenario
    database: Database
    found: Findings
    seconds: float
    count: int = 0
    _known: frozenset[str] = frozenset()
    _quoted: dict[str, str] = field(default_factory=dict)
    _broken: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        schema = self.database.schema()
        names = {table.name for table in schema.tables}
        names |= {column.name for table in schema.tables for column in table.columns}
        parts: list[NodeInfo | EdgeInfo] = [*schema.nodes, *schema.edges]
        for part in parts:
            names |= {part.label, *(one.name for one in part.properties)}
        self._known = frozenset(names)
        spelled = {name: self._spelled(name) for name in names}
        self._quoted = {name: one for name, one in spelled.items() if one != name}

    def _spelled(self, name: str) -> str:
        if self.database.kind == "graph":
            return cypher_name(name)
        return quote_if_needed(self.database.dialect, name)

    def written(self, stem: str) -> tuple[Written, ...]:
        """Return the statements of a file in the database's language; none without such a file."""
        file = Path(self.scenario.folder) / f"{stem}{SUFFIXES[self.database.kind]}"
        return tuple(Written(str(file), line, one) for line, one in read_lines(file))

    def check_names(self, statements: Collection[Written], known: Collection[str]) -> None:
        """Find what statements name that a question's target does not tell, and what nothing has.

        Parameters
        ----------
        statements
            Of one file.
        known
            Keys of the targets that the question has.
        """
        misspelt = {nearest(key, self.scenario.parameters) for key in known} - {*known}
        for written in statements:
            for name in written.template.get_identifiers():
                if name in misspelt:
                    continue  # told with the question
                if name not in known and name in self.scenario.parameters:
                    line = self.found.line_with(written.file, f"${name}", written.line)
                    problem = f"'${name}' is a parameter that question.txt does not ask about"
                    mend = f"so no target tells it: write ${name} into question.txt"
                    self.found.add(
                        "error", written.file, line or written.line, f"{problem}, {mend}"
                    )
                elif name not in known and name != "candidates":
                    self._broken.add((written.file, written.line))  # told with the folder
            if self.database.dialect == "neo4j":
                self._check_graph_names(written)
            if self.database.dialect == "sqlite":
                self._check_quoted_names(written)

    def _check_graph_names(self, written: Written) -> None:
        """Find properties and labels that no node has: Neo4j itself takes them for empty."""
        text = without_texts(written.text, self.database.dialect)
        labels = (one or other for one, other in _LABEL.findall(text))
        for name in dict.fromkeys([*_PROPERTY.findall(text), *labels]):
            if name in self._known:
                continue
            self._broken.add((written.file, written.line))
            near = nearest(name, self._known)
            line = self.found.line_with(written.file, name, written.line)
            hint = f"; did you mean '{near}'?" if near else ""
            problem = f"the database has no label, type or property '{name}'{hint}"
            swap = (name, near) if near else None
            self.found.add("error", written.file, line or written.line, problem, swap=swap)

    def _check_quoted_names(self, written: Written) -> None:
        """Find names in double quotes that are there nowhere: SQLite takes them for texts."""
        for name in taken_for_texts(written.text, self._known):
            near = nearest(name, self._known)
            line = self.found.line_with(written.file, name, written.line) or written.line
            problem = f"there is no column '{name}', and SQLite takes \"{name}\" for a text"
            if near is None:
                mend = f"write a text in single quotes ('{name}')"
                self.found.add("warning", written.file, line, f"{problem}: {mend}")
                continue
            swap = name, near
            hint = f"did you mean '{near}'?"
            self.found.add("error", written.file, line, f"{problem}; {hint}", swap=swap)

    def run(self, written: Written, values: Values, rows: int) -> Rows | None:
        """Run a statement; None where it does not run, which is found then.

        A statement that failed is not run again. Where the database offers another name for one
        that it does not know, the statement is tried with that, to find what else is wrong.
        """
        key = (written.file, written.line)
        if key in self._broken:
            return None
        try:
            statement = filled(written.template, self.database.kind, values)
        except (KeyError, DataError) as error:
            self._broken.add(key)
            if isinstance(error, DataError):
                self.found.add("error", written.file, written.line, str(error))
            return None  # a name that nothing fills in is told with the folder
        for attempt in range(_MENDED):
            try:
                found = self.ask(statement, rows)
            except QueryError as error:
                self._broken.add(key)
                mended = self._failed(written, statement, error)
                if mended is None:
                    return None
                statement = mended
            else:
                return found if attempt == 0 else None
        return None

    def ask(self, statement: str, rows: int) -> Rows:
        """Run a statement within bounds."""
        self.count += 1
        return self.database.query(
            statement, Limits(rows=rows, bytes=64_000_000, seconds=self.seconds, cell=1_000)
        )

    def _failed(self, written: Written, statement: str, error: QueryError) -> str | None:
        """Tell why a statement failed, and return it mended where a name is all that is wrong."""
        if isinstance(error, StatementTimeoutError):
            problem = f"it takes longer than {self.seconds:g} s: narrow it, or add up first"
            self.found.add("warning", written.file, written.line, problem)
            return None
        problem, right = said(error)
        if isinstance(error, RefusedStatementError):
            problem = f"it may not run: {problem}"
        mended = self._with_quotes(written, statement, problem)
        if mended is not None:
            return mended
        if isinstance(error, RefusedStatementError) or _UNREAD.search(problem):
            self.found.add("error", written.file, self._told_line(written, problem), problem)
            return None  # whatever it names last is not what is wrong
        wrong = self._unknown_name(error, statement) or self._wrong_word(problem, statement)
        if right is None and wrong is not None:
            right = nearest(wrong, self._known)
            problem += f" Did you mean '{right}'?" if right is not None else ""
        line = None if wrong is None else self.found.line_with(written.file, wrong, written.line)
        swap = None if wrong is None or right is None else (wrong, _as_written(wrong, right))
        self.found.add(
            "error", written.file, line or self._told_line(written, problem), problem, swap=swap
        )
        if wrong is None or swap is None or wrong == right:
            return None
        return swapped_all(statement, *swap)

    def _with_quotes(self, written: Written, statement: str, problem: str) -> str | None:
        """Tell of names that lack their quotes, and return the statement with these; None without.

        A name with a space in it is two words, of which the second may be taken for an alias. The
        database has to say that they are what is wrong: with its quotes, it reads the statement.
        """
        stops = set(_NEAR.findall(problem))
        for _ in range(_MENDED):
            mended = with_quotes(statement, self._quoted, stops, self.database.dialect)
            if mended == statement:
                return None
            stopped = self._stopped(mended, problem)
            if stopped is None:
                break
            if not self._quoted.keys() & stopped - stops:
                return None
            stops |= stopped
        else:
            return None
        right = with_quotes(written.text, self._quoted, stops, self.database.dialect)
        pairs = zip(written.text.split("\n"), right.split("\n"), strict=True)
        wrong = [(number, swap) for number, swap in enumerate(pairs) if swap[0] != swap[1]]
        for number, swap in wrong:
            told = "A name with spaces or signs, or of a word of the language, stands in quotes"
            if number == wrong[0][0]:
                told = f"{problem.rstrip('.')}. {told}"
            self.found.add("error", written.file, written.line + number, told, swap=swap)
        return mended if wrong else None

    def _stopped(self, statement: str, problem: str) -> set[str] | None:
        """Return the words at which the database stops to read; None where it reads all of it.

        What it says as before is still there, so nothing is mended.
        """
        try:
            self.ask(statement, 1)
        except StatementTimeoutError:
            return None
        except QueryError as error:
            told, _ = said(error)
            if isinstance(error, RefusedStatementError) or told == problem or _UNREAD.search(told):
                return set(_NEAR.findall(told))
        return None

    def _unknown_name(self, error: QueryError, statement: str) -> str | None:
        """Return the name that a database itself says is not there, as the statement has it.

        The rest of the message lists what is there, in words that a statement may have as well.
        """
        cause = error.__cause__
        if not isinstance(cause, UnknownReferenceError) or cause.name in self._known:
            return None
        text = without_texts(statement, self.database.dialect)
        return cause.name if re.search(rf"(?<!\w){re.escape(cause.name)}(?!\w)", text) else None

    def _wrong_word(self, problem: str, statement: str) -> str | None:
        """Return the name that a message complains of: the last one that only the statement has."""
        told = _OFFERS.split(problem)[0]
        text = without_texts(statement, self.database.dialect)
        pairs: list[str] = [p for p in re.findall(r"[^\W\d]\w*\.[^\W\d]\w*", told) if p in text]
        if pairs:
            return pairs[-1]
        words = re.findall(r"[^\W\d]\w*", told)
        unknown = [
            word
            for word in words
            if word not in self._known and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
        ]
        names = [word for word in unknown if not _is_alias(word, text)]
        return names[-1] if names else None

    @staticmethod
    def _told_line(written: Written, problem: str) -> int:
        told = _LINE.search(problem)
        count = written.text.count("\n") + 1
        inside = int(told[1]) if told is not None else 1
        return written.line + inside - 1 if inside <= count else written.line


def _as_written(wrong: str, right: str) -> str:
    """Return the name to write instead of another, behind the same table: ``p.name``."""
    owner, dot, _ = wrong.rpartition(".")
    return right if "." in right else f"{owner}{dot}{right}"


def _is_alias(word: str, statement: str) -> bool:
    """Whether a statement has a word as a keyword or name of its own: ``p.nam``, ``AS p``."""
    if word.isupper():
        return True
    return re.search(rf"(?<!\w){re.escape(word)}\.\w", statement) is not None


def counted_values(rows: Rows) -> Mapping[object, int]:
    """Return how often each value of a result's first column is there."""
    found: dict[object, int] = {}
    for row in rows.rows:
        value = row[0] if row and not isinstance(row[0], list | dict) else str(row[:1])
        found[value] = found.get(value, 0) + 1
    return found


def shown(values: Collection[object], most: int = 3) -> str:
    """Return some values as a message names them."""
    named = ", ".join(f"'{value}'" for value in list(values)[:most])
    return named if len(values) <= most else f"{named} and {len(values) - most:,} more"
