"""Runs a scenario's statements for sample targets, and checks candidates, outcomes and guesses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from dqa import plugins
from dqa.core.database import Rows
from dqa.core.display import cell_of
from dqa.core.errors import DqaError, InfrastructureError
from dqa.core.question import MOST_CANDIDATES, Candidate, Question
from dqa.core.text import counted
from dqa.loaders.inspection.findings import Findings, Level, said
from dqa.loaders.inspection.statements import StatementTrial, Written
from dqa.loaders.live_questions import list_candidates, unconfirmed
from dqa.scenarios import Scenario
from dqa.scenarios.checks import heuristic_file
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.outcomes import ScenarioOutcomes
from dqa.scenarios.statements import SUFFIXES, Values
from dqa.scenarios.toml_lines import Place

_MANY = 1_000
_SHOWN_ROWS = 200


class DecisionCheck:
    """Tries all statements of one scenario.

    Parameters
    ----------
    scenario, merged
        The scenario, and its document with the lines of its fields.
    trial
        Runs the statements.
    keys
        The parameters of its question.
    """

    def __init__(
        self,
        scenario: Scenario,
        merged: MergedDocument,
        trial: StatementTrial,
        keys: Sequence[str],
    ) -> None:
        self._scenario, self._merged, self._trial, self._keys = scenario, merged, trial, keys
        self._heuristics = [heuristic_file(one.name) for one in scenario.heuristics]
        stems = ("candidates", "outcomes", "context", *self._heuristics)
        self._written = {stem: trial.written(stem) for stem in stems}

    def check_names(self) -> None:
        """Report unknown names of statements, before any of them runs."""
        for statements in self._written.values():
            self._trial.check_names(statements, self._keys)

    def parameters(self) -> tuple[str, ...]:
        """Return the scenario's parameters that the question or a statement has."""
        listing = self._scenario.listing
        named = {*listing.needs, *filter(None, (listing.except_, listing.listed_in))}
        for statements in self._written.values():
            named.update(key for one in statements for key in one.template.get_identifiers())
        keys = dict.fromkeys([*self._keys, *sorted(named)])
        return tuple(key for key in keys if key in self._scenario.parameters)

    def check_languages(self) -> None:
        """Report statements that are missing in the database's language."""
        scenario, kind = self._scenario, self._trial.database.kind
        listing = scenario.listing
        own = listing.sql if kind == "relational" else listing.cypher
        is_missing = {
            "candidates": listing.is_statement and own is None,
            "outcomes": bool(scenario.outcome_queries) and kind not in scenario.outcome_queries,
            **{heuristic_file(h.name): kind not in h.statements for h in scenario.heuristics},
        }
        other = next(suffix for of, suffix in SUFFIXES.items() if of != kind)
        for stem in filter(is_missing.__getitem__, is_missing):
            problem = f"there is no {stem}{SUFFIXES[kind]}, so all tables are read into memory for"
            file = f"{scenario.folder}/{stem}{other}"
            self._trial.found.add("note", file, None, f"{problem} this one; add it")

    def check(self, target: Mapping[str, str]) -> None:
        """Run everything for one target."""
        named = ", ".join(f"{key}={value}" for key, value in target.items())
        about = f" for {named}" if named else ""
        candidates = self._candidates(target, about)
        if candidates is None:
            return
        question = Question(
            scenario=self._scenario.name,
            id="doctor",
            text=self._scenario.template.safe_substitute(target),
            rules=self._scenario.rules,
            situation=self._trial.database.name,
            target=dict(target),
            candidates=candidates,
        )
        values: Values = {**self._scenario.values(target), "candidates": candidates}
        self._outcomes(question, values, about)
        for written in self._written["context"]:
            rows = self._trial.run(written, values, _SHOWN_ROWS)
            if rows is not None and not rows.rows:
                problem = f"it returns no rows{about}, so a decider learns nothing from it"
                self._trial.report("warning", written, problem)
        known = set(map(str, candidates))
        for written in (one for stem in self._heuristics for one in self._written[stem]):
            rows = self._trial.run(written, values, _SHOWN_ROWS)
            if rows is None:
                continue
            if not rows.rows or not rows.rows[0]:
                problem = f"it returns no row{about}, so it guesses nothing"
                self._trial.report("warning", written, problem)
            elif str(rows.rows[0][0]) not in known:
                problem = f"it guesses '{rows.rows[0][0]}'{about}, which cannot be chosen"
                self._trial.report("error", written, problem)

    # --- candidates ---

    def _candidates(self, target: Mapping[str, str], about: str) -> tuple[Candidate, ...] | None:
        """Return the candidates; None without any, which is reported."""
        statements = self._written["candidates"]
        for written in statements:
            rows = self._trial.run(written, self._scenario.values(target), MOST_CANDIDATES)
            if rows is None or not self._is_listing(written, rows, about):
                return None
        try:
            candidates = list_candidates(self._scenario, self._trial.database, target)
        except InfrastructureError:
            raise
        except DqaError as error:
            self._report_error(("candidates", "column"), error)
            return None
        if not candidates or len(candidates) > _MANY:
            level: Level = "note" if candidates else "error"
            problem = f"{len(candidates):,} can be chosen{about}, too many for a model to read"
            problem = problem if candidates else f"nothing can be chosen{about}: it lists no row"
            if statements:
                self._trial.report(level, statements[0], problem)
            else:
                self._trial.found.add_field(level, self._merged, ("candidates",), problem)
        return candidates or None

    def _is_listing(self, written: Written, rows: Rows, about: str) -> bool:
        """Check the rows that list candidates; return whether there are any."""
        if rows.cut in ("rows", "bytes"):
            problem = f"it lists more than {len(rows.rows):,} rows{about}: narrow it, by WHERE or"
            self._trial.report("error", written, f"{problem} LIMIT")
            return False
        values = Counter(str(cell_of(row[0])) for row in rows.rows if row[0] is not None)
        nulls = sum(row[0] is None for row in rows.rows)
        if not values:
            what = "only NULL" if nulls else "nothing"
            problem = f"it lists {what}{about}, so nothing can be chosen"
            self._trial.report("error", written, problem)
            return False
        if nulls:
            problem = f"{counted(nulls, 'row')} of its list{about} are NULL and left out"
            self._trial.report("warning", written, f"{problem}: add IS NOT NULL")
        repeated = [value for value, count in values.items() if count > 1]
        if repeated:
            problem = f"it lists {_shown(repeated)} several times{about}: add DISTINCT, or a name"
            self._trial.report("warning", written, f"{problem} that distinguishes them")
        return True

    # --- outcomes ---

    def _outcomes(self, question: Question, values: Values, about: str) -> None:
        source = self._scenario.outcomes.source
        if source == "query":
            for written in self._written["outcomes"]:
                rows = self._trial.run(written, values, MOST_CANDIDATES)
                if rows is not None:
                    names_them = "candidates" in written.template.get_identifiers()
                    place = written.file, written.line
                    self._check_values(place, rows, question, about, is_exact=names_them)
        if source != "formula":
            return
        try:
            simulator = plugins.simulator_of(self._scenario)
            if isinstance(simulator, ScenarioOutcomes) and simulator.serves(
                self._trial.database.kind
            ):
                statement = simulator.statement(self._trial.database, question)
                rows = self._trial.ask(statement, MOST_CANDIDATES)
                where = self._merged.wrong(("outcomes", source), "")
                place = str(where.file), where.line or 1
                self._check_values(place, rows, question, about, is_exact=False)
        except InfrastructureError:
            raise
        except DqaError as error:
            self._report_error(("outcomes", source), error)

    def _check_values(
        self, place: tuple[str, int], rows: Rows, question: Question, about: str, *, is_exact: bool
    ) -> None:
        """Compare the rows of outcomes with the candidates; `is_exact` allows no other rows."""
        found = self._trial.found
        if len(rows.columns) != 2:
            problem = f"it returns {counted(len(rows.columns), 'column')}: return two, the"
            found.add("error", *place, f"{problem} candidate and its value")
            return
        wanted = {str(candidate) for candidate in question.candidates or ()}
        counts = Counter(str(row[0]) for row in rows.rows)
        missing = sorted(wanted - {*counts})
        if missing:
            fix = "give them one (LEFT JOIN, COALESCE), or leave them out of the candidates"
            found.add("error", *place, f"it has no outcome of {_shown(missing)}{about}: {fix}")
        repeated = [name for name, count in counts.items() if count > 1 and name in wanted]
        if repeated:
            problem = f"it has {_shown(repeated)} several times{about}: a candidate has one outcome"
            found.add("error", *place, f"{problem}, so group by it")
        for name, value in rows.rows:
            if str(name) in wanted and not _is_number(cell_of(value)):
                what = "NULL" if value is None else repr(value)
                problem = f"the outcome of '{name}' is {what}{about}, which is not a number"
                found.add("error", *place, f"{problem}: COALESCE or CAST it")
                break
        unknown = [name for name in counts if name not in wanted]
        if unknown and (is_exact or missing):
            problem = f"it has an outcome of {_shown(unknown)}{about}, which cannot be chosen"
            found.add("warning", *place, problem)

    def _report_error(self, place: Place, error: DqaError) -> None:
        """Report an error, unless it follows from a name that was reported as unknown."""
        if not any(name in str(error) for name in self._trial.found.unknown):
            self._trial.found.add_field("error", self._merged, place, said(error)[0])


def check_outcomes(scenario: Scenario, merged: MergedDocument, found: Findings) -> None:
    """Report unconfirmed guesses of ``dqa init``, and a simulator that cannot be imported."""
    if not scenario.outcomes.confirmed:
        _, _, problem = unconfirmed(scenario).partition(": ")
        found.add_field("error", merged, ("outcomes", "confirmed"), problem)
    if scenario.outcomes.source == "python":
        try:
            plugins.simulator_of(scenario)
        except DqaError as error:
            found.add_field("error", merged, ("outcomes", "python"), str(error))


def _is_number(value: object) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(str(value)))
    except ValueError:
        return False


def _shown(values: Collection[object], most: int = 3) -> str:
    named = ", ".join(f"'{value}'" for value in list(values)[:most])
    return named if len(values) <= most else f"{named} and {len(values) - most:,} more"
