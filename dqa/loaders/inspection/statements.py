"""Runs a scenario's statements on a live database, each within limits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from string import Template
from typing import NamedTuple

import sqlglot
from sqlglot import exp

from dqa.core.database import Database, Limits, Rows
from dqa.core.errors import (
    DataError,
    QueryError,
    RefusedStatementError,
    StatementTimeoutError,
    UnknownReferenceError,
)
from dqa.core.schema import cypher_name
from dqa.databases.tables import quote_if_needed
from dqa.loaders.inspection.findings import Findings, Level, hint_of, nearest, shorten_error
from dqa.scenarios import Scenario
from dqa.scenarios.statements import SUFFIXES, Values, filled, read_lines

_NEAR = re.compile(r"""\bnear ['"]+(\w+)""")
_LINE = re.compile(r"\bline:? (\d+)", re.IGNORECASE)
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|//[^\n]*")
_GRAPH_NAME = re.compile(r"(?<=[\w)`])\.([^\W\d]\w*)(?!\w*[(.])|(?<=[(\w\[|]):([^\W\d]\w*)")


class Written(NamedTuple):
    """A statement of a folder: its file, its first line and its text."""

    file: str
    line: int
    template: Template


class StatementTrial:
    """Runs the statements of a scenario, and reports those that fail.

    Attributes
    ----------
    count
        The number of statements that ran.
    """

    def __init__(
        self, scenario: Scenario, database: Database, found: Findings, seconds: float
    ) -> None:
        self.scenario, self.database, self.found = scenario, database, found
        self.count = 0
        self._seconds = seconds
        self._broken: set[tuple[str, int]] = set()
        parts = database.schema().parts
        names = {field.name for part in parts for field in part.fields}
        self._known = frozenset(names | {part.name for part in parts})

    def written(self, stem: str) -> tuple[Written, ...]:
        """Return the statements of a file in the database's language; () without such a file."""
        file = Path(self.scenario.folder) / f"{stem}{SUFFIXES[self.database.kind]}"
        return tuple(Written(str(file), line, one) for line, one in read_lines(file))

    def check_names(self, statements: Collection[Written], known: Collection[str]) -> None:
        """Report parameters that no target has, and names that the database lacks.

        Parameters
        ----------
        statements
            The statements of one file.
        known
            The parameters of the question.
        """
        for written in statements:
            for name in {*written.template.get_identifiers()} - {*known, "candidates"}:
                self._broken.add(written[:2])
                if name in self.scenario.parameters and not nearest(name, known):
                    problem = f"'${name}' is a parameter that question.txt does not ask about, so"
                    fix = f"no target has it: write ${name} into question.txt"
                    self._report_word(written, f"${name}", f"{problem} {fix}")
            for name in dict.fromkeys(self._unknown_names(written.template.template)):
                near = nearest(name, self._known)
                is_text = self.database.dialect == "sqlite"
                text = f', and SQLite takes "{name}" for a text' if is_text else ""
                problem = f"the database has no '{name}'{text}{hint_of(near)}"
                self._report_word(written, name, problem, near)

    def _unknown_names(self, text: str) -> Iterator[str]:
        """Yield the unknown names for which the database reports no error.

        Neo4j returns nothing for one, and SQLite reads one in double quotes as a text.
        """
        if self.database.dialect == "neo4j":
            for names in _GRAPH_NAME.findall(_TEXT.sub("''", text)):
                yield from (name for name in names if name and name not in self._known)
        if self.database.dialect != "sqlite":
            return
        try:
            tree = sqlglot.parse_one(text, dialect="sqlite")
        except sqlglot.errors.SqlglotError:
            return  # SQLite reports it
        known = {name.lower() for name in self._known}
        known |= {one.alias.lower() for one in tree.find_all(exp.Alias, exp.CTE, exp.TableAlias)}
        for column in tree.find_all(exp.Column):
            if column.this.args.get("quoted") and not column.table:
                yield from () if column.name.lower() in known else (column.name,)

    def run(self, written: Written, values: Values, rows: int) -> Rows | None:
        """Run a statement; None for one that fails, which is reported and not run again."""
        if written[:2] in self._broken:
            return None
        limits = Limits(rows=rows, bytes=64_000_000, seconds=self._seconds, cell=1_000)
        try:
            statement = filled(written.template, self.database.kind, values)
            self.count += 1
            return self.database.query(statement, limits)
        except KeyError:
            pass  # the folder's reader reports unknown parameters
        except DataError as error:
            self.report("error", written, str(error))
        except QueryError as error:
            self._report_failure(written, error)
        self._broken.add(written[:2])
        return None

    def report(self, level: Level, written: Written, problem: str) -> None:
        """Report a problem of a whole statement."""
        self.found.add(level, written.file, written.line, problem)

    def _report_failure(self, written: Written, error: QueryError) -> None:
        """Report why a statement failed, with the name that is probably wrong."""
        if isinstance(error, StatementTimeoutError):
            problem = f"it takes longer than {self._seconds:g} s: narrow it, or add up first"
            self.report("warning", written, problem)
            return
        problem, right = shorten_error(error)
        if isinstance(error, RefusedStatementError):
            problem = f"it may not run: {problem}"
        text, cause = written.template.template, error.__cause__
        unquoted = self._unquoted_name(text, problem)
        if unquoted is not None:
            problem = f"{problem.rstrip('.')}. The name '{unquoted}' needs quotes"
            self._report_word(written, unquoted, problem, self._spelled(unquoted))
        elif isinstance(cause, UnknownReferenceError) and cause.name in text:
            wrong = cause.name
            if right is None and (right := nearest(wrong, self._known)) is not None:
                problem += f" Did you mean '{right}'?"
            owner, dot, _ = wrong.rpartition(".")
            right = right if right is None or "." in right else f"{owner}{dot}{right}"
            self._report_word(written, wrong, problem, right)
        else:
            line = _LINE.search(problem)
            inside = int(line[1]) - 1 if line is not None else 0
            at = written.line + min(inside, text.count("\n"))
            self.found.add("error", written.file, at, problem)

    def _unquoted_name(self, statement: str, problem: str) -> str | None:
        """Return a name that lacks its quotes in a statement; None without one."""
        near = _NEAR.findall(problem)
        for name in sorted(self._known, key=len, reverse=True):
            if self._spelled(name) == name or (name.isidentifier() and name not in near):
                continue
            if re.search(rf"(?<![\w\"`\[]){re.escape(name)}(?![\w\"`\]])", statement):
                return name
        return None

    def _spelled(self, name: str) -> str:
        if self.database.kind == "graph":
            return cypher_name(name)
        return quote_if_needed(self.database.dialect, name)

    def _report_word(
        self, written: Written, word: str, problem: str, right: str | None = None
    ) -> None:
        """Report an error at the line with a word, and suggest another word for it."""
        line = self.found.line_with(written.file, word, written.line)
        swap = None if right is None else (word, right)
        self.found.add("error", written.file, line, problem, swap)
