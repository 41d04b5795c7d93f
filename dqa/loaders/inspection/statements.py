"""Run a scenario's statements on a live database, each within limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
from dqa.core.files import read_text
from dqa.loaders.inspection.findings import Findings, Level
from dqa.scenarios import Scenario
from dqa.scenarios.checks import hint
from dqa.scenarios.statements import SUFFIXES, Values, filled, split_statements

_LINE = re.compile(r"\bline:? (\d+)", re.IGNORECASE)


class Written(NamedTuple):
    """A statement of a folder: its file, its first line and its text."""

    file: str
    line: int
    template: Template


class StatementTrial:
    """Runs the statements of a scenario, and reports the statements that fail.

    Attributes
    ----------
    count
        The number of statements that ran.
    keys
        The parameters of the question.
    """

    def __init__(
        self, scenario: Scenario, database: Database, found: Findings, seconds: float
    ) -> None:
        self.scenario, self.database, self.found = scenario, database, found
        self.count = 0
        self.keys = list(dict.fromkeys(scenario.template.get_identifiers()))
        self._seconds = seconds
        self._broken: set[tuple[str, int]] = set()
        parts = database.schema().parts
        names = {field.name for part in parts for field in part.fields}
        self._known = frozenset(names | {part.name for part in parts})

    def written(self, stem: str) -> tuple[Written, ...]:
        """Return the statements of a file in the database's language; () if the file is missing."""
        file = Path(self.scenario.folder) / f"{stem}{SUFFIXES[self.database.kind]}"
        text = read_text(file) if file.is_file() else ""
        return tuple(Written(str(file), line, one) for line, one in split_statements(text))

    def check_parameters(self, statements: Sequence[Written]) -> None:
        """Report parameters that a statement uses, but that question.txt does not name."""
        for written in statements:
            for name in {*written.template.get_identifiers()} - {*self.keys, "candidates"}:
                self._broken.add(written[:2])
                if name in self.scenario.parameters:
                    problem = f"question.txt does not name the parameter '${name}': write it there"
                    self._report_word(written, f"${name}", problem + hint(name, self.keys))

    def run(self, written: Written, values: Values, rows: int) -> Rows | None:
        """Run a statement.

        If the statement fails, report the error and return None. A failed statement is not run
        again.
        """
        if written[:2] in self._broken:
            return None
        limits = Limits(rows=rows, bytes=64_000_000, seconds=self._seconds, cell=1_000)
        try:
            statement = filled(written.template, self.database.kind, values)
            self.count += 1
            found = self.database.query(statement, limits)
        except KeyError:
            pass  # the folder's reader reports unknown parameters
        except DataError as error:
            self.report("error", written, str(error))
        except QueryError as error:
            self._report_failure(written, error)
        else:
            for problem in filter(None, found.warning.split("; ")):
                name = problem.rpartition(" ")[2]
                self._report_word(written, name, problem + hint(name, self._known))
            for name in self._names_read_as_texts(written.template.template):
                problem = (
                    f"the database has no column '{name}', so SQLite reads \"{name}\" as a text"
                )
                self._report_word(written, name, problem + hint(name, self._known))
            return found
        self._broken.add(written[:2])
        return None

    def _names_read_as_texts(self, text: str) -> Iterator[str]:
        """Yield the unknown names in double quotes.

        SQLite reads such names as texts, without an error.
        """
        if self.database.dialect != "sqlite":
            return
        try:
            tree = sqlglot.parse_one(text, dialect="sqlite")
        except sqlglot.errors.SqlglotError:
            return  # SQLite accepts statements that the parser rejects
        known = {name.lower() for name in self._known}
        known |= {one.alias.lower() for one in tree.find_all(exp.Alias, exp.CTE, exp.TableAlias)}
        for column in tree.find_all(exp.Column):
            if column.this.args.get("quoted") and not column.table:
                yield from () if column.name.lower() in known else (column.name,)

    def report(self, level: Level, written: Written, problem: str) -> None:
        """Report a problem at the first line of a statement."""
        self.found.add(level, written.file, written.line, problem)

    def _report_failure(self, written: Written, error: QueryError) -> None:
        """Report why a statement failed, at the line of the error."""
        text, problem, cause = written.template.template, str(error), error.__cause__
        if isinstance(error, StatementTimeoutError):
            problem = (
                f"it takes longer than {self._seconds:g} s: filter rows, or aggregate them before "
                "joins"
            )
            self.report("warning", written, problem)
        elif isinstance(error, RefusedStatementError):
            self.report("error", written, f"the guard refuses it: {problem}")
        elif isinstance(cause, UnknownReferenceError) and cause.name and cause.name in text:
            more = "" if "Did you mean" in problem else hint(cause.name, self._known)
            self._report_word(written, cause.name, problem + more)
        else:
            line = _LINE.search(problem)
            inside = int(line[1]) - 1 if line is not None else 0
            at = written.line + min(inside, text.count("\n"))
            self.found.add("error", written.file, at, problem)

    def _report_word(self, written: Written, word: str, problem: str) -> None:
        """Report an error at the first line in which a statement contains a word."""
        text = written.template.template
        match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
        lines = text.count("\n", 0, match.start()) if match is not None else 0
        self.found.add("error", written.file, written.line + lines, problem)
