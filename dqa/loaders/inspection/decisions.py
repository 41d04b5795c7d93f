"""Run a scenario's statements for sample targets, and check the results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from string import Template
from typing import NamedTuple

import sqlglot
from sqlglot import exp

from dqa import plugins
from dqa.core.database import Database, Limits, Rows
from dqa.core.display import cell_of
from dqa.core.errors import (
    DataError,
    DqaError,
    InfrastructureError,
    QueryError,
    RefusedStatementError,
    StatementTimeoutError,
    UnknownReferenceError,
)
from dqa.core.files import read_text
from dqa.core.question import MOST_CANDIDATES, Candidate, Question
from dqa.core.text import counted, in_quotes
from dqa.loaders.inspection.findings import Findings, Level
from dqa.loaders.live_questions import UNUSED, LiveScenario, unconfirmed
from dqa.scenarios import Scenario
from dqa.scenarios.checks import heuristic_file, hint
from dqa.scenarios.outcomes import ScenarioOutcomes
from dqa.scenarios.parameters import LIST_SEPARATOR
from dqa.scenarios.statements import SUFFIXES, Values, filled, split_statements

_SHOWN_ROWS = 200
_TARGETS = 3
"""The number of sample targets."""
_ANY = {"boolean": "true", "date": "2024-01-01", "timestamp": "2024-01-01 00:00:00"}
"""Sample values by type, for parameters that accept any value. Other types use the value 1."""
_LINE = re.compile(r"\bline:? (\d+)", re.IGNORECASE)


class Written(NamedTuple):
    """A statement of a folder: its file, the number of its first line, and its text."""

    file: str
    line: int
    template: Template


class DecisionCheck:
    """Runs the statements of a scenario on a live database, and checks their results.

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
        self._live = LiveScenario(scenario, database)
        self._heuristics = [heuristic_file(one.name) for one in scenario.heuristics]
        stems = ("candidates", "outcomes", "context", *self._heuristics)
        self._written = {stem: self._read(stem) for stem in stems}

    def check(self, named: Mapping[str, str]) -> tuple[dict[str, str], ...]:
        """Check the names in the folder, and run all statements for sample targets.

        Return the sample targets.

        Parameters
        ----------
        named
            The parameter values that the user chose.
        """
        for statements in self._written.values():
            self._check_parameters(statements)
        rules = str(Path(self.scenario.folder) / "rules.md")
        for name in Template(self.scenario.rules).get_identifiers():
            if name in self.scenario.parameters:
                problem = f"'${name}' does not become a value here: write it in question.txt"
                self.found.add("error", rules, None, problem)
        self._check_outcomes_part()
        targets = self._targets(named)
        for target in targets:
            self._try(target)
        return targets

    def _check_outcomes_part(self) -> None:
        """Report unconfirmed guesses of ``dqa init``.

        Report a simulator that cannot be imported.
        """
        outcomes = self.scenario.outcomes
        if not outcomes.confirmed:
            problem = unconfirmed(self.scenario)
            self.found.add_field(("outcomes", "confirmed"), problem)
        if outcomes.source == "python":
            try:
                plugins.simulator_of(self.scenario)
            except DqaError as error:
                self.found.add_field(("outcomes", "python"), str(error))

    def _try(self, target: Mapping[str, str]) -> None:
        """Run all statements for one target."""
        shown = ", ".join(f"{key}={value}" for key, value in target.items())
        about = f" for {shown}" if shown else ""
        candidates = self._candidates(target, about)
        if candidates is None:
            return
        question = Question(
            scenario=self.scenario.name,
            id="doctor",
            text="",
            rules="",
            situation=self.database.name,
            target=dict(target),
            candidates=candidates,
        )
        values: Values = {**self.scenario.values(target), "candidates": candidates}
        self._outcomes(question, values, about)
        for written in self._written["context"]:
            rows = self._run(written, values, _SHOWN_ROWS)
            if rows is not None and not rows.rows:
                problem = f"the statement returns no rows{about}, so it is useless for deciders"
                self._report("warning", written, problem)
        known = set(map(str, candidates))
        for written in (one for stem in self._heuristics for one in self._written[stem]):
            rows = self._run(written, values, _SHOWN_ROWS)
            guess = [str(row[0]) for row in rows.rows[:1] if row] if rows is not None else ["..."]
            if not guess:
                problem = f"the heuristic returns no row{about}, so it does not choose a candidate"
                self._report("warning", written, problem)
            elif rows is not None and guess[0] not in known:
                problem = f"the heuristic chooses '{guess[0]}'{about}, which is not a candidate"
                self._report("error", written, problem)

    # --- candidates ---

    def _candidates(self, target: Mapping[str, str], about: str) -> tuple[Candidate, ...] | None:
        """Return the candidates of a target.

        If there are no candidates, report that and return None.
        """
        statements = self._written["candidates"]
        for written in statements:
            rows = self._run(written, self.scenario.values(target), MOST_CANDIDATES)
            if rows is None:
                return None
            self._check_listing(written, rows, about)
        problem = f"there are no candidates{about}"
        try:
            candidates = self._live.candidates(target)
        except InfrastructureError:
            raise
        except DqaError as error:
            candidates, problem = (), str(error)
        if candidates:
            return candidates
        if statements:
            self._report("error", statements[0], problem)
        else:
            self.found.add_field(("candidates",), problem)
        return None

    def _check_listing(self, written: Written, rows: Rows, about: str) -> None:
        """Report NULL and repeated values among the rows that list candidates."""
        values = Counter(str(cell_of(row[0])) for row in rows.rows if row[0] is not None)
        repeated = [value for value, count in values.items() if count > 1]
        if repeated:
            problem = f"the rows repeat {in_quotes(repeated)}{about}: add DISTINCT, or add a name"
            self._report("warning", written, f"{problem} that tells these rows apart")
        if nulls := len(rows.rows) - values.total():
            problem = (
                f"{counted(nulls, 'row')} with NULL instead of a candidate{about} will be left out"
            )
            self._report("warning", written, f"{problem}: add IS NOT NULL")

    # --- outcomes ---

    def _outcomes(self, question: Question, values: Values, about: str) -> None:
        """Run the statement that returns outcomes, and check its rows against the candidates."""
        if self.scenario.outcomes.source != "query":
            return
        simulator, candidates = ScenarioOutcomes(self.scenario), question.candidates or ()
        for written in self._written["outcomes"]:
            rows = self._run(written, values, MOST_CANDIDATES)
            if rows is None:
                continue
            listed = {*candidates, *map(str, candidates)}
            cells = dict.fromkeys(cell_of(row[0]) for row in rows.rows)
            unknown = [cell for cell in cells if listed.isdisjoint({cell, str(cell)})]
            names_them = "candidates" in written.template.get_identifiers()
            try:
                simulator.outcomes_of(question, rows, "the statement")
            except DataError as error:
                problem = str(error).removeprefix(f"Question '{question.key}': ")
                self._report("error", written, f"{problem}{about and f' ({about.strip()})'}")
                names_them = True
            if unknown and names_them:
                problem = (
                    f"there is an outcome for {in_quotes(unknown)}{about}, which is not a candidate"
                )
                self._report("warning", written, problem)

    # --- targets ---

    def _targets(self, named: Mapping[str, str]) -> tuple[dict[str, str], ...]:
        """Return a few targets with values of the database.

        If the database has no value for a parameter, return no target.
        """
        scenario, listing = self.scenario, self.scenario.listing
        used = {*listing.needs, *filter(None, (listing.except_, listing.listed_in))}
        for statements in self._written.values():
            used.update(key for one in statements for key in one.template.get_identifiers())
        keys = [key for key in scenario.parameters if key in used or key in self.keys]
        parts = {key: scenario.parameters[key] for key in keys}
        needs = {key: {*(p.follows or p).needs} & {*keys} - {key} for key, p in parts.items()}
        ordered = list(TopologicalSorter(needs).static_order())
        found: list[dict[str, str]] = []
        for number in range(_TARGETS):
            target: dict[str, str] = {}
            for key in ordered:
                try:
                    value = named.get(key) or self._value(key, target, number)
                except (DataError, QueryError) as error:
                    self.found.add_field(("parameters", key), str(error))
                    return ()
                if value is not None:
                    target[key] = value
            if target not in found:
                found.append(target)
        return tuple(found)

    def _value(self, key: str, target: Mapping[str, str], number: int) -> str | None:
        parameter = self.scenario.parameters[key]
        if not (parameter.follows or parameter).is_given:
            return None if parameter.optional else _ANY.get(parameter.type or "", "1")
        values = self._live.values(key, target, _TARGETS)
        if not values:
            others = ", ".join(f"{name}={value}" for name, value in target.items())
            raise DataError(f"this parameter has no values{f' if {others}' if others else ''}")
        if parameter.type == "list":
            return LIST_SEPARATOR.join(values[: number + 1])
        return values[number % len(values)]

    # --- statements ---

    def _read(self, stem: str) -> tuple[Written, ...]:
        """Return the statements of a file in the database's language; () if the file is missing."""
        file = Path(self.scenario.folder) / f"{stem}{SUFFIXES[self.database.kind]}"
        text = read_text(file) if file.is_file() else ""
        return tuple(Written(str(file), line, one) for line, one in split_statements(text))

    def _check_parameters(self, statements: Sequence[Written]) -> None:
        """Report parameters that a statement uses, but that question.txt does not name."""
        for written in statements:
            for name in {*written.template.get_identifiers()} - {*self.keys, "candidates"}:
                self._broken.add(written[:2])
                if name in self.scenario.parameters:
                    self._report_word(
                        written, f"${name}", UNUSED.format(name) + hint(name, self.keys)
                    )

    def _run(self, written: Written, values: Values, rows: int) -> Rows | None:
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
            self._report("error", written, str(error))
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

    def _report(self, level: Level, written: Written, problem: str) -> None:
        """Report a problem at the first line of a statement."""
        self.found.add(level, written.file, written.line, problem)

    def _report_failure(self, written: Written, error: QueryError) -> None:
        """Report why a statement failed, at the line of the error."""
        text, problem, cause = written.template.template, str(error), error.__cause__
        if isinstance(error, StatementTimeoutError):
            problem = (
                f"the statement takes longer than {self._seconds:g} s: filter rows, or aggregate "
                "them before joins"
            )
            self._report("warning", written, problem)
        elif isinstance(error, RefusedStatementError):
            self._report("error", written, f"the guard refuses the statement: {problem}")
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
