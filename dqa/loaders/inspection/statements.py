"""Runs a scenario's statements on a live database, each within limits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

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
from dqa.loaders.inspection.findings import Findings, nearest, said
from dqa.scenarios import Scenario
from dqa.scenarios.statements import SUFFIXES, Values, filled, read_lines

_NEAR = re.compile(r"""\bnear ['"]+(\w+)""")
_LINE = re.compile(r"\bline:? (\d+)", re.IGNORECASE)
_OFFERS = re.compile(r"did you mean|perhaps you meant", re.IGNORECASE)
_SYNTAX = re.compile(r"syntax error|SQL syntax|parser exception|invalid input", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|//[^\n]*")
_GRAPH_NAME = re.compile(r"(?<=[\w)`])\.([^\W\d]\w*)(?!\w*[(.])|(?<=[(\w\[|]):([^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Written:
    """A statement of a folder: its file, its first line and its text."""

    file: str
    line: int
    template: Template

    @property
    def text(self) -> str:
        """The template's text."""
        return self.template.template


@dataclass(slots=True)
class StatementTrial:
    """Runs the statements of a scenario, and reports those that fail.

    Attributes
    ----------
    seconds
        The time limit of a statement.
    count
        How many statements ran.
    """

    scenario: Scenario
    database: Database
    found: Findings
    seconds: float
    count: int = 0
    _known: frozenset[str] = frozenset()
    _broken: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        schema = self.database.schema()
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
                    fix = f"so no target gives it: write ${name} into question.txt"
                    self._tell(written, f"${name}", f"{problem}, {fix}")
                else:
                    self._broken.add((written.file, written.line))  # the folder's reader reports it
            unknown: Iterator[str] = iter(())
            if self.database.dialect == "neo4j":  # which returns nothing for an unknown name
                unknown = self._unknown_graph_names(written.text)
            if self.database.dialect == "sqlite":  # which reads an unknown "name" as a text
                unknown = self._unknown_quoted_names(written.text)
            for name in dict.fromkeys(unknown):
                near = nearest(name, self._known)
                hint = f"; did you mean '{near}'?" if near else ""
                takes = f', and SQLite takes "{name}" for a text'
                takes = takes if self.database.dialect == "sqlite" else ""
                problem = f"the database has no '{name}'{takes}{hint}"
                self._tell(written, name, problem, near)

    def _unknown_graph_names(self, text: str) -> Iterator[str]:
        for names in _GRAPH_NAME.findall(_TEXT.sub("''", text)):
            yield from (name for name in names if name and name not in self._known)

    def _unknown_quoted_names(self, text: str) -> Iterator[str]:
        try:
            tree = sqlglot.parse_one(text, dialect="sqlite")
        except sqlglot.errors.SqlglotError:
            return  # SQLite reports it
        there = {name.lower() for name in self._known}
        there |= {one.alias.lower() for one in tree.find_all(exp.Alias, exp.CTE, exp.TableAlias)}
        for column in tree.find_all(exp.Column):
            is_quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
            if is_quoted and not column.table and column.name.lower() not in there:
                yield column.name

    def run(self, written: Written, values: Values, rows: int) -> Rows | None:
        """Run a statement; None for one that fails, which is reported and not run again."""
        key = (written.file, written.line)
        if key in self._broken:
            return None
        try:
            return self.ask(filled(written.template, self.database.kind, values), rows)
        except (KeyError, DataError) as error:
            if isinstance(error, DataError):  # the folder's reader reports unknown parameters
                self.found.add("error", written.file, written.line, str(error))
        except QueryError as error:
            self._failed(written, error)
        self._broken.add(key)
        return None

    def ask(self, statement: str, rows: int) -> Rows:
        """Run a statement within limits."""
        self.count += 1
        return self.database.query(
            statement, Limits(rows=rows, bytes=64_000_000, seconds=self.seconds, cell=1_000)
        )

    def _failed(self, written: Written, error: QueryError) -> None:
        """Report why a statement failed, with the name that is probably wrong."""
        if isinstance(error, StatementTimeoutError):
            problem = f"it takes longer than {self.seconds:g} s: narrow it, or add up first"
            self.found.add("warning", written.file, written.line, problem)
            return
        problem, right = said(error)
        if isinstance(error, RefusedStatementError):
            problem = f"it may not run: {problem}"
        unquoted = self._unquoted_name(written.text, problem)
        if unquoted is not None:
            problem = f"{problem.rstrip('.')}. The name '{unquoted}' needs quotes"
            self._tell(written, unquoted, problem, self._spelled(unquoted))
            return
        wrong = None
        if not isinstance(error, RefusedStatementError) and not _SYNTAX.search(problem):
            wrong = self._wrong_name(error, problem, written.text)
        if wrong is None:
            line = _LINE.search(problem)
            inside = int(line[1]) - 1 if line is not None else 0
            at = written.line + min(inside, written.text.count("\n"))
            self.found.add("error", written.file, at, problem)
            return
        if right is None and (right := nearest(wrong, self._known)) is not None:
            problem += f" Did you mean '{right}'?"
        owner, dot, _ = wrong.rpartition(".")
        behind = None if right is None else right if "." in right else f"{owner}{dot}{right}"
        self._tell(written, wrong, problem, behind)

    def _wrong_name(self, error: QueryError, problem: str, statement: str) -> str | None:
        """Return the unknown name of a message, as the statement has it."""
        cause = error.__cause__
        words: list[str] = _WORD.findall(_OFFERS.split(problem)[0])
        if isinstance(cause, UnknownReferenceError):
            words.append(cause.name)
        text = _TEXT.sub("''", statement)
        for word in reversed(words):
            is_used = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
            is_alias = re.search(rf"(?<!\w){re.escape(word)}\.\w", text) is not None
            if is_used and not is_alias and not word.isupper() and word not in self._known:
                return word
        return None

    def _unquoted_name(self, statement: str, problem: str) -> str | None:
        """Return a name that a statement has without the quotes that it needs; None without one."""
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

    def _tell(self, written: Written, word: str, problem: str, right: str | None = None) -> None:
        """Report an error at the line with a word, and suggest another word for it."""
        line = self.found.line_with(written.file, word, written.line) or written.line
        swap = None if right is None else (word, right)
        self.found.add("error", written.file, line, problem, swap=swap)
