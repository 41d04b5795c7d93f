"""Runs a scenario's statements for sample targets, and checks candidates, outcomes and guesses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dqa import plugins
from dqa.core.database import Rows
from dqa.core.display import cell_of
from dqa.core.errors import DqaError, InfrastructureError, UsageError
from dqa.core.question import MOST_CANDIDATES, Candidate, Question
from dqa.core.text import counted
from dqa.loaders.inspection.findings import Findings, Level, said
from dqa.loaders.inspection.statements import StatementTrial, Written
from dqa.loaders.live_questions import list_candidates, unconfirmed
from dqa.scenarios import Scenario
from dqa.scenarios.checks import heuristic_file
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.outcomes import FormulaOutcomes
from dqa.scenarios.statements import SUFFIXES
from dqa.scenarios.toml_lines import Place

_MANY = 1_000
_SHOWN_ROWS = 200


@dataclass(frozen=True, slots=True)
class DecisionCheck:
    """Tries all statements of one scenario.

    Attributes
    ----------
    scenario, merged
        The scenario, and where the fields of its document stand.
    trial
        Runs the statements.
    keys
        The parameters of its question.
    """

    scenario: Scenario
    merged: MergedDocument
    trial: StatementTrial
    keys: Sequence[str]

    @property
    def _found(self) -> Findings:
        return self.trial.found

    @property
    def _stems(self) -> tuple[str, ...]:
        return ("candidates", "outcomes", "context", *self._heuristics)

    @property
    def _heuristics(self) -> list[str]:
        return [heuristic_file(one.name) for one in self.scenario.heuristics]

    def check_names(self) -> None:
        """Report unknown names of statements, before any of them runs."""
        for stem in self._stems:
            self.trial.check_names(self.trial.written(stem), self.keys)

    def parameters(self) -> tuple[str, ...]:
        """Return the scenario's parameters that the question or a statement has."""
        written = [one for stem in self._stems for one in self.trial.written(stem)]
        named = [key for one in written for key in one.template.get_identifiers()]
        listing = self.scenario.listing
        named += [*listing.needs, *filter(None, (listing.except_, listing.listed_in))]
        keys = dict.fromkeys([*self.keys, *sorted(named)])
        return tuple(key for key in keys if key in self.scenario.parameters)

    def check_languages(self) -> None:
        """Report statements that are missing in the database's language."""
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
        named = ", ".join(f"{key}={value}" for key, value in target.items())
        about = f" for {named}" if named else ""
        candidates = self._candidates(target, about)
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
        values = {**self.scenario.values(target), "candidates": candidates}
        self._outcomes(question, values, about)
        for written in self.trial.written("context"):
            rows = self.trial.run(written, values, _SHOWN_ROWS)
            if rows is not None and not rows.rows:
                problem = f"it returns no rows{about}, so a decider learns nothing from it"
                self._found.add("warning", written.file, written.line, problem)
        for stem in self._heuristics:
            for written in self.trial.written(stem):
                rows = self.trial.run(written, values, _SHOWN_ROWS)
                if rows is not None:
                    self._guess(written, rows, candidates, about)

    # --- candidates ---

    def _candidates(self, target: Mapping[str, str], about: str) -> tuple[Candidate, ...] | None:
        """Return the candidates; None where there are none, which is reported."""
        statements = self.trial.written("candidates")
        for written in statements:
            rows = self.trial.run(written, self.scenario.values(target), MOST_CANDIDATES)
            if rows is None or not self._is_listing(written, rows, about):
                return None
        try:
            candidates = list_candidates(self.scenario, self.trial.database, target)
        except InfrastructureError:
            raise
        except DqaError as error:
            self._tell_error(("candidates", "column"), error)
            return None
        if not candidates:
            problem = f"nothing can be chosen{about}: it lists no row"
            self._tell("error", ("candidates",), problem, statements)
            return None
        if len(candidates) > _MANY:
            problem = f"{len(candidates):,} can be chosen{about}, too many for a model to read"
            self._tell("note", ("candidates",), problem, statements)
        return candidates

    def _is_listing(self, written: Written, rows: Rows, about: str) -> bool:
        """Check the rows that list candidates; return whether there are any."""
        place = written.file, written.line
        if rows.cut in ("rows", "bytes"):
            problem = f"it lists more than {len(rows.rows):,} rows{about}: narrow it, by WHERE or"
            self._found.add("error", *place, f"{problem} LIMIT")
            return False
        values = Counter(str(cell_of(row[0])) for row in rows.rows if row[0] is not None)
        nothing = sum(row[0] is None for row in rows.rows)
        if not values:
            what = "only NULL" if nothing else "nothing"
            self._found.add("error", *place, f"it lists {what}{about}, so nothing can be chosen")
            return False
        if nothing:
            problem = f"{counted(nothing, 'row')} of its list{about} are NULL and left out"
            self._found.add("warning", *place, f"{problem}: add IS NOT NULL")
        repeated = [value for value, count in values.items() if count > 1]
        if repeated:
            problem = f"it lists {_shown(repeated)} several times{about}: add DISTINCT, or a name"
            self._found.add("warning", *place, f"{problem} that distinguishes them")
        return True

    # --- outcomes ---

    def _outcomes(self, question: Question, values: Mapping[str, object], about: str) -> None:
        source = self.scenario.outcomes.source
        if source == "query":
            for written in self.trial.written("outcomes"):
                rows = self.trial.run(written, values, MOST_CANDIDATES)  # type: ignore[arg-type]
                if rows is not None:
                    names_them = "candidates" in written.template.get_identifiers()
                    self._values((written.file, written.line), rows, question, about, names_them)
            return
        try:
            simulator = plugins.simulator_of(self.scenario) if source == "formula" else None
            if isinstance(simulator, FormulaOutcomes) and simulator.serves(
                self.trial.database.kind
            ):
                statement = simulator.statement(self.trial.database, question)
                rows = self.trial.ask(statement, MOST_CANDIDATES)
                where = self.merged.wrong(("outcomes", source), "")
                self._values((str(where.file), where.line or 1), rows, question, about, False)
        except InfrastructureError:
            raise
        except DqaError as error:
            self._tell_error(("outcomes", source), error)

    def _values(
        self,
        place: tuple[str, int],
        rows: Rows,
        question: Question,
        about: str,
        names_them: bool,
    ) -> None:
        """Compare the rows of outcomes with the candidates."""
        if len(rows.columns) != 2:
            problem = f"it returns {counted(len(rows.columns), 'column')}: return two, the"
            self._found.add("error", *place, f"{problem} candidate and its value")
            return
        wanted = {str(candidate) for candidate in question.candidates or ()}
        counts = Counter(str(row[0]) for row in rows.rows)
        missing = [name for name in wanted if name not in counts]
        if missing:
            fix = "give them one (LEFT JOIN, COALESCE), or leave them out of the candidates"
            problem = f"it has no outcome of {_shown(sorted(missing))}{about}: {fix}"
            self._found.add("error", *place, problem)
        repeated = [name for name, count in counts.items() if count > 1 and name in wanted]
        if repeated:
            problem = f"it has {_shown(repeated)} several times{about}: a candidate has one outcome"
            self._found.add("error", *place, f"{problem}, so group by it")
        for name, value in rows.rows:
            if str(name) in wanted and not _is_number(cell_of(value)):
                what = "NULL" if value is None else repr(value)
                problem = f"the outcome of '{name}' is {what}{about}, which is not a number"
                self._found.add("error", *place, f"{problem}: COALESCE or CAST it")
                break
        unknown = [name for name in counts if name not in wanted]
        if unknown and (names_them or missing):
            problem = f"it has an outcome of {_shown(unknown)}{about}, which cannot be chosen"
            self._found.add("warning", *place, problem)

    def _guess(
        self, written: Written, rows: Rows, candidates: Sequence[Candidate], about: str
    ) -> None:
        place = written.file, written.line
        if not rows.rows or not rows.rows[0]:
            self._found.add("warning", *place, f"it returns no row{about}, so it guesses nothing")
        elif str(rows.rows[0][0]) not in {str(candidate) for candidate in candidates}:
            problem = f"it guesses '{rows.rows[0][0]}'{about}, which cannot be chosen"
            self._found.add("error", *place, problem)

    # --- findings ---

    def _tell_error(self, place: Place, error: DqaError) -> None:
        """Report an error, unless it follows from a name that was reported as unknown."""
        if not any(name in str(error) for name in self._found.unknown):
            self._tell("error", place, said(error)[0])

    def _tell(
        self, level: Level, place: Place, problem: str, statements: Sequence[Written] = ()
    ) -> None:
        """Report a problem of a field, or of the statement in its place."""
        if statements:
            self._found.add(level, statements[0].file, statements[0].line, problem)
            return
        where = self.merged.wrong(place, problem)
        text = f"{'.'.join(map(str, place))}: {problem}"
        self._found.add(level, str(where.file), where.line, text)


def check_confirmed(scenario: Scenario, merged: MergedDocument, found: Findings) -> None:
    """Report guesses of ``dqa init`` that decide and are not confirmed."""
    if not scenario.outcomes.confirmed:
        where = merged.wrong(("outcomes", "confirmed"), unconfirmed(scenario))
        found.add("error", str(where.file), where.line, unconfirmed(scenario))


def check_simulator(scenario: Scenario, merged: MergedDocument, found: Findings) -> None:
    """Report a simulator in Python that cannot be imported."""
    if scenario.outcomes.source != "python":
        return
    try:
        plugins.simulator_of(scenario)
    except (DqaError, UsageError) as error:
        where = merged.wrong(("outcomes", "python"), str(error))
        found.add("error", str(where.file), where.line, f"outcomes.python: {error}")


def _is_number(value: object) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(str(value)))
    except ValueError:
        return False


def _shown(values: Collection[object], most: int = 3) -> str:
    named = ", ".join(f"'{value}'" for value in list(values)[:most])
    return named if len(values) <= most else f"{named} and {len(values) - most:,} more"
