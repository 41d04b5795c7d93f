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
from dqa.core.schema import EdgeInfo, NodeInfo, cypher_name
from dqa.databases.tables import quote_if_needed
from dqa.loaders.inspection.findings import Findings, Level, nearest, said
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
        schema = database.schema()
        names = {table.name for table in schema.tables}
        names |= {column.name for table in schema.tables for column in table.columns}
        parts: list[NodeInfo | EdgeInfo] = [*schema.nodes, *schema.edges]
        for part in parts:
            names |= {part.label, *(one.name for one in part.properties)}
        self._known = frozenset(names)

    def written(self, stem: str) -> tuple[Written, ...]:
        """Return the statements of a file in the database's language; () without such a file."""
        file = Path(self.scenario.folder) / f"{stem}{SUFFIXES[self.database.kind]}"
        return tuple(Written(str(file), line, one) for line, one in read_lines(file))

    def check_names(self, statements: Collection[Written], known: Collection[str]) -> None:
        """Report parameters that no question has, and names that the database lacks.

        Parameters
        ----------
        statements
            The statements of one file.
        known
            The keys of the question's target.
        """
        misspelt = {nearest(key, self.scenario.parameters) for key in known} - {*known}
        for written in statements:
            for name in written.template.get_identifiers():
                if name in {*known, *misspelt, "candidates"}:
                    continue
                if name in self.scenario.parameters:
                    problem = f"'${name}' is a parameter that question.txt does not ask about"
                    fix = f"so no target has it: write ${name} into question.txt"
                    self._report_word(written, f"${name}", f"{problem}, {fix}")
                else:
                    self._broken.add(written[:2])  # the folder's reader reports it
            for name in dict.fromkeys(self._unknown_names(written.template.template)):
                near = nearest(name, self._known)
                hint = f"; did you mean '{near}'?" if near else ""
                text = f', and SQLite takes "{name}" for a text'
                text = text if self.database.dialect == "sqlite" else ""
                self._report_word(written, name, f"the database has no '{name}'{text}{hint}", near)

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
            is_quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
            if is_quoted and not column.table and column.name.lower() not in known:
                yield column.name

    def run(self, written: Written, values: Values, rows: int) -> Rows | None:
        """Run a statement; None for one that fails, which is reported and not run again."""
        if written[:2] in self._broken:
            return None
        try:
            return self.ask(filled(written.template, self.database.kind, values), rows)
        except KeyError:
            pass  # the folder's reader reports unknown parameters
        except DataError as error:
            self.report("error", written, str(error))
        except QueryError as error:
            self._report_failure(written, error)
        self._broken.add(written[:2])
        return None

    def ask(self, statement: str, rows: int) -> Rows:
        """Run a statement within limits."""
        self.count += 1
        limits = Limits(rows=rows, bytes=64_000_000, seconds=self._seconds, cell=1_000)
        return self.database.query(statement, limits)

    def report(self, level: Level, written: Written, problem: str) -> None:
        """Report a problem of a whole statement."""
        self.found.add(level, written.file, written.line, problem)

    def _report_failure(self, written: Written, error: QueryError) -> None:
        """Report why a statement failed, with the name that is probably wrong."""
        if isinstance(error, StatementTimeoutError):
            problem = f"it takes longer than {self._seconds:g} s: narrow it, or add up first"
            self.report("warning", written, problem)
            return
        problem, right = said(error)
        if isinstance(error, RefusedStatementError):
            problem = f"it may not run: {problem}"
        text = written.template.template
        unquoted = self._unquoted_name(text, problem)
        cause = error.__cause__
        wrong = cause.name if isinstance(cause, UnknownReferenceError) else ""
        if unquoted is not None:
            problem = f"{problem.rstrip('.')}. The name '{unquoted}' needs quotes"
            self._report_word(written, unquoted, problem, self._spelled(unquoted))
        elif re.search(rf"(?<!\w){re.escape(wrong)}(?!\w)", text) if wrong else False:
            owner, dot, _ = wrong.rpartition(".")
            if right is None and (right := nearest(wrong, self._known)) is not None:
                problem += f" Did you mean '{right}'?"
            swap = None if right is None else right if "." in right else f"{owner}{dot}{right}"
            self._report_word(written, wrong, problem, swap)
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
        line = self.found.line_with(written.file, word, written.line) or written.line
        swap = None if right is None else (word, right)
        self.found.add("error", written.file, line, problem, swap=swap)
