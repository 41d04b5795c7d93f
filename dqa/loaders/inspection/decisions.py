"""What a scenario's statements give for sample targets: candidates, outcomes, context, guesses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dqa import plugins
from dqa.core.database import Rows
from dqa.core.display import cell_of
from dqa.core.errors import DqaError, InfrastructureError, QueryError, UsageError
from dqa.core.question import MOST_CANDIDATES, Candidate, Question
from dqa.core.text import counted
from dqa.loaders.asked import list_candidates
from dqa.loaders.inspection.findings import Findings, Level, said
from dqa.loaders.inspection.statements import (
    StatementTrial,
    Written,
    counted_values,
    shown,
)
from dqa.scenarios import Scenario
from dqa.scenarios.checks import heuristic_file
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.outcomes import FormulaOutcomes
from dqa.scenarios.statements import SUFFIXES
from dqa.scenarios.tables import live_table
from dqa.scenarios.toml_lines import Place

_MANY = 1_000
_SHOWN_ROWS = 200


@dataclass(frozen=True, slots=True)
class DecisionCheck:
    """Tries all statements of one scenario.

    Attributes
    ----------
    scenario, merged
        What is tried, and where its document's fields are written.
    trial
        Runs the statements.
    keys
        Of targets.
    """

    scenario: Scenario
    merged: MergedDocument
    trial: StatementTrial
    keys: Sequence[str]

    @property
    def _found(self) -> Findings:
        return self.trial.found

    def check_names(self) -> None:
        """Find what statements name that is not there, before anything runs."""
        for stem in ("candidates", "outcomes", "context", *self._heuristics()):
            self.trial.check_names(self.trial.written(stem), self.keys)

    def parameters(self) -> tuple[str, ...]:
        """Return what the question and its statements are about, of what the scenario has."""
        stems = ("candidates", "outcomes", "context", *self._heuristics())
        written = [one for stem in stems for one in self.trial.written(stem)]
        named = [key for one in written for key in one.template.get_identifiers()]
        listing = self.scenario.listing
        named += [*listing.needs, *filter(None, (listing.except_, listing.listed_in))]
        keys = dict.fromkeys([*self.keys, *sorted(named)])
        return tuple(key for key in keys if key in self.scenario.parameters)

    def check_languages(self) -> None:
        """Tell what is only there in the other language than the database's."""
        scenario, kind = self.scenario, self.trial.database.kind
        listing = scenario.listing
        own = listing.sql if kind == "relational" else listing.cypher
        missing = []
        if listing.is_statement and own is None:
            missing.append("candidates")
        if scenario.outcome_queries and kind not in scenario.outcome_queries:
            missing.append("outcomes")
        missing += [
            heuristic_file(one.name) for one in scenario.heuristics if kind not in one.statements
        ]
        for stem in missing:
            other = next(suffix for of, suffix in SUFFIXES.items() if of != kind)
            problem = f"there is no {stem}{SUFFIXES[kind]}, so all tables are read into memory for"
            file = f"{scenario.folder}/{stem}{other}"
            self._found.add("note", file, None, f"{problem} this one; add it")

    def check(self, target: Mapping[str, str]) -> None:
        """Run everything for one target."""
        told = _told(target)
        candidates = self._candidates(target, told)
        if candidates is None:
            return
        question = Question(
            scenario=self.scenario.name,
            id="doctor",
            text=self.scenario.template.safe_substitute(target),
            rules=self.scenario.rules,
            situation=self.trial.database.name,
            target=dict(target),
            candidates=candidates,
        )
        self._outcomes(question, told)
        values = {**self.scenario.values(target), "candidates": candidates}
        for written in self.trial.written("context"):
            rows = self.trial.run(written, values, _SHOWN_ROWS)
            if rows is not None and not rows.rows:
                problem = f"it returns no rows{told}, so who decides by it is told nothing"
                self._found.add("warning", written.file, written.line, problem)
        for stem in self._heuristics():
            for written in self.trial.written(stem):
                rows = self.trial.run(written, values, _SHOWN_ROWS)
                if rows is not None:
                    self._guess(written, rows, candidates, told)

    def _heuristics(self) -> list[str]:
        return [heuristic_file(one.name) for one in self.scenario.heuristics]

    # --- candidates ---

    def _candidates(self, target: Mapping[str, str], told: str) -> tuple[Candidate, ...] | None:
        """Return what can be chosen; None where that cannot be told, or is nothing."""
        statements = self.trial.written("candidates")
        for written in statements:
            rows = self.trial.run(written, self.scenario.values(target), MOST_CANDIDATES)
            if rows is None or not self._listed(written, rows, told):
                return None
        if not statements and not self._column():
            return None
        place: Place = ("candidates",)
        try:
            candidates = list_candidates(self.scenario, self.trial.database, target)
        except InfrastructureError:
            raise
        except DqaError as error:
            if not self._is_known(error):
                self._tell("error", (*place, "column"), said(error)[0], statements)
            return None
        if not candidates:
            self._tell("error", place, f"nothing can be chosen{told}: it lists no row", statements)
            return None
        if len(candidates) > _MANY:
            problem = f"{len(candidates):,} can be chosen{told}, which no model reads whole"
            self._tell("note", place, problem, statements)
        return candidates

    def _listed(self, written: Written, rows: Rows, told: str) -> bool:
        """Look at what a statement lists; whether anything can be chosen of it."""
        place = written.file, written.line
        if rows.cut in ("rows", "bytes"):
            problem = f"it lists more than {len(rows.rows):,} rows{told}: narrow it, by WHERE or"
            self._found.add("error", *place, f"{problem} LIMIT")
            return False
        values = counted_values(rows)
        nothing = values.get(None, 0)
        if not rows.rows or nothing == len(rows.rows):
            what = "only NULL" if rows.rows else "nothing"
            self._found.add("error", *place, f"it lists {what}{told}, so nothing can be chosen")
            return False
        if nothing:
            problem = f"{counted(nothing, 'row')} of what it lists{told} are NULL and left out: add"
            self._found.add("warning", *place, f"{problem} IS NOT NULL")
        twice = [value for value, count in values.items() if count > 1 and value is not None]
        if twice:
            problem = f"it lists {shown(twice)} several times{told}: add DISTINCT, or a name that"
            self._found.add("warning", *place, f"{problem} tells them apart")
        return True

    def _column(self) -> bool:
        """Look at the column that lists the candidates; whether it can be read."""
        listing = self.scenario.listing
        if listing.table is None or listing.column is None:
            return False
        try:
            live = live_table(self.scenario.schema, listing.table, self.trial.database)
            value = live.column(listing.column)
            selected = f"COUNT(*), COUNT({value}), COUNT(DISTINCT {value})"
            statement = (
                f"{live.source} RETURN {selected}"
                if live.is_graph
                else f"SELECT {selected} {live.source}"
            )
            counts = [int(str(cell)) for cell in self.trial.ask(statement, 1).rows[0]]
        except (DqaError, QueryError) as error:
            if isinstance(error, InfrastructureError):
                raise
            if not self._is_known(error):
                self._tell("error", ("candidates", "column"), said(error)[0])
            return False
        rows, filled_in, distinct = counts
        name = f"'{listing.table}.{listing.column}'"
        if filled_in < rows:
            problem = f"{counted(rows - filled_in, 'row')} of {name} have none and are left out"
            self._tell("warning", ("candidates", "column"), problem)
        if distinct < filled_in:
            problem = f"{name} has {filled_in:,} values of which {distinct:,} differ, and those"
            self._tell("warning", ("candidates", "column"), f"{problem} that are alike are one")
        return True

    # --- outcomes ---

    def _outcomes(self, question: Question, told: str) -> None:
        source = self.scenario.outcomes.source
        candidates = question.candidates or ()
        if source == "query":
            for written in self.trial.written("outcomes"):
                values = {**self.scenario.values(question.target), "candidates": candidates}
                rows = self.trial.run(written, values, MOST_CANDIDATES)
                if rows is not None:
                    named = "candidates" in written.template.get_identifiers()
                    place = written.file, written.line
                    self._values(place, rows, candidates, told, named=named)
        elif source in ("formula", "python"):
            self._calculated(question, candidates, told)

    def _calculated(self, question: Question, candidates: Sequence[Candidate], told: str) -> None:
        source = self.scenario.outcomes.source
        try:
            simulator = plugins.simulator_of(self.scenario)
            if not isinstance(simulator, FormulaOutcomes):
                return  # what Python counts by is its own to tell
            if not simulator.serves(self.trial.database.kind):
                return
            statement = simulator.statement(self.trial.database, question)
            rows = self.trial.ask(statement, MOST_CANDIDATES)
        except InfrastructureError:
            raise
        except DqaError as error:
            if not self._is_known(error):
                self._tell("error", ("outcomes", source), said(error)[0])
            return
        where = self.merged.wrong(("outcomes", source), "")
        self._values((str(where.file), where.line or 1), rows, candidates, told, named=False)

    def _values(
        self,
        place: tuple[str, int],
        rows: Rows,
        candidates: Sequence[Candidate],
        told: str,
        *,
        named: bool,
    ) -> None:
        """Hold candidates and values against those that can be chosen."""
        if len(rows.columns) != 2:
            problem = f"it returns {counted(len(rows.columns), 'column')}: return two, the"
            self._found.add("error", *place, f"{problem} candidate and its value")
            return
        wanted = {str(candidate) for candidate in candidates}
        values = {str(row[0]): row[1] for row in rows.rows}
        counts = counted_values(rows)
        missing = [name for name in candidates if str(name) not in values]
        twice = [name for name, n in counts.items() if n > 1 and str(name) in wanted]
        unknown = [name for name in values if name not in wanted]
        no_numbers = {
            name: value
            for name, value in values.items()
            if name in wanted and not _is_number(cell_of(value))
        }
        if missing:
            mend = "give them one (LEFT JOIN, COALESCE), or leave them out of the candidates"
            problem = f"it has no outcome of {shown(missing)}{told}: {mend}"
            self._found.add("error", *place, problem)
        if twice:
            problem = f"it has {shown(twice)} several times{told}: a candidate has one outcome"
            self._found.add("error", *place, f"{problem}, so group by it")
        if no_numbers:
            name, value = next(iter(no_numbers.items()))
            what = "NULL" if value is None else repr(value)
            problem = (
                f"the outcome of '{name}' is {what}{told}, which is no number: COALESCE or CAST"
            )
            more = f" ({len(no_numbers):,} of them are none)" if len(no_numbers) > 1 else ""
            self._found.add("error", *place, f"{problem} it{more}")
        if unknown and (named or missing):
            problem = f"it has an outcome of {shown(unknown)}{told}, which cannot be chosen"
            self._found.add("warning", *place, problem)

    def _guess(
        self, written: Written, rows: Rows, candidates: Sequence[Candidate], told: str
    ) -> None:
        place = written.file, written.line
        if not rows.rows or not rows.rows[0]:
            self._found.add("warning", *place, f"it returns no row{told}, so it guesses nothing")
        elif str(rows.rows[0][0]) not in {str(candidate) for candidate in candidates}:
            problem = f"it guesses '{rows.rows[0][0]}'{told}, which cannot be chosen"
            self._found.add("error", *place, problem)

    # --- what is told ---

    def _is_known(self, error: DqaError) -> bool:
        """Whether an error follows from a name that is told to be unknown already."""
        return any(f"{name}" in str(error) for name in self._found.unknown)

    def _tell(
        self, level: Level, place: Place, problem: str, statements: Sequence[Written] = ()
    ) -> None:
        if statements:
            self._found.add(level, statements[0].file, statements[0].line, problem)
            return
        where = self.merged.wrong(place, problem)
        told = f"{'.'.join(map(str, place))}: {problem}"
        self._found.add(level, str(where.file), where.line, told)


def check_simulator(scenario: Scenario, merged: MergedDocument, found: Findings) -> None:
    """Find what keeps outcomes by Python from being worked out."""
    if scenario.outcomes.source != "python":
        return
    try:
        plugins.simulator_of(scenario)
    except (DqaError, UsageError) as error:
        where = merged.wrong(("outcomes", "python"), str(error))
        found.add("error", str(where.file), where.line, f"outcomes.python: {error}")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def _told(target: Mapping[str, str]) -> str:
    named = ", ".join(f"{key}={value}" for key, value in target.items())
    return f" for {named}" if named else ""
