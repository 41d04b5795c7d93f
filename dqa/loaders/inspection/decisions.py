"""Run a scenario's statements for sample targets, and check the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

from dqa import plugins
from dqa.core.database import Database, Rows
from dqa.core.display import cell_of
from dqa.core.errors import DataError, DqaError, InfrastructureError, QueryError
from dqa.core.question import MOST_CANDIDATES, Candidate, Question
from dqa.core.text import counted
from dqa.loaders.inspection.findings import Findings
from dqa.loaders.inspection.statements import StatementTrial, Written
from dqa.loaders.live_questions import LiveScenario, unconfirmed
from dqa.scenarios import Scenario
from dqa.scenarios.checks import heuristic_file
from dqa.scenarios.outcomes import ScenarioOutcomes
from dqa.scenarios.parameters import LIST_SEPARATOR
from dqa.scenarios.statements import Values

_SHOWN_ROWS = 200
_SHOWN_VALUES = 3
_TARGETS = 3
"""The number of sample targets."""
_ANY = {"boolean": "true", "date": "2024-01-01", "timestamp": "2024-01-01 00:00:00"}
"""Sample values by type, for parameters that accept any value. Other types use 1."""


class DecisionCheck(StatementTrial):
    """Runs and checks all statements of one scenario."""

    def __init__(
        self, scenario: Scenario, database: Database, found: Findings, seconds: float
    ) -> None:
        super().__init__(scenario, database, found, seconds)
        self._live = LiveScenario(scenario, database)
        self._heuristics = [heuristic_file(one.name) for one in scenario.heuristics]
        stems = ("candidates", "outcomes", "context", *self._heuristics)
        self._written = {stem: self.written(stem) for stem in stems}

    def check(self, named: Mapping[str, str]) -> tuple[dict[str, str], ...]:
        """Check the names in the folder, and run all statements for sample targets.

        Return the sample targets.

        Parameters
        ----------
        named
            The parameter values that the user chose.
        """
        for statements in self._written.values():
            self.check_parameters(statements)
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
            rows = self.run(written, values, _SHOWN_ROWS)
            if rows is not None and not rows.rows:
                problem = f"it returns no rows{about}, so it is useless for deciders"
                self.report("warning", written, problem)
        known = set(map(str, candidates))
        for written in (one for stem in self._heuristics for one in self._written[stem]):
            rows = self.run(written, values, _SHOWN_ROWS)
            guess = [str(row[0]) for row in rows.rows[:1] if row] if rows is not None else ["..."]
            if not guess:
                problem = f"it returns no row{about}, so it does not choose a candidate"
                self.report("warning", written, problem)
            elif rows is not None and guess[0] not in known:
                problem = f"it chooses '{guess[0]}'{about}, which is not a candidate"
                self.report("error", written, problem)

    # --- candidates ---

    def _candidates(self, target: Mapping[str, str], about: str) -> tuple[Candidate, ...] | None:
        """Return the candidates of a target.

        If there are no candidates, report that and return None.
        """
        statements = self._written["candidates"]
        for written in statements:
            rows = self.run(written, self.scenario.values(target), MOST_CANDIDATES)
            if rows is None:
                return None
            self._check_listing(written, rows, about)
        problem = f"it lists no candidates{about}"
        try:
            candidates = self._live.candidates(target)
        except InfrastructureError:
            raise
        except DqaError as error:
            candidates, problem = (), str(error)
        if candidates:
            return candidates
        if statements:
            self.report("error", statements[0], problem)
        else:
            self.found.add_field(("candidates",), problem)
        return None

    def _check_listing(self, written: Written, rows: Rows, about: str) -> None:
        """Report NULL and repeated values among the rows that list candidates."""
        values = Counter(str(cell_of(row[0])) for row in rows.rows if row[0] is not None)
        repeated = [value for value, count in values.items() if count > 1]
        if repeated:
            problem = (
                f"it lists {_shown(repeated)} several times{about}: add DISTINCT, or add a name"
            )
            self.report("warning", written, f"{problem} that distinguishes them")
        if nulls := len(rows.rows) - values.total():
            problem = (
                f"its list{about} contains {counted(nulls, 'row')} with NULL, which are left out"
            )
            self.report("warning", written, f"{problem}: add IS NOT NULL")

    # --- outcomes ---

    def _outcomes(self, question: Question, values: Values, about: str) -> None:
        """Run the statement of the outcomes, and check its rows against the candidates."""
        if self.scenario.outcomes.source != "query":
            return
        simulator, candidates = ScenarioOutcomes(self.scenario), question.candidates or ()
        for written in self._written["outcomes"]:
            rows = self.run(written, values, MOST_CANDIDATES)
            if rows is None:
                continue
            listed = {*candidates, *map(str, candidates)}
            cells = dict.fromkeys(cell_of(row[0]) for row in rows.rows)
            unknown = [cell for cell in cells if listed.isdisjoint({cell, str(cell)})]
            names_them = "candidates" in written.template.get_identifiers()
            try:
                simulator.outcomes_of(question, rows, "it")
            except DataError as error:
                problem = str(error).removeprefix(f"Question '{question.key}': ")
                self.report("error", written, f"{problem}{about and f' ({about.strip()})'}")
                names_them = True
            if unknown and names_them:
                problem = (
                    f"it has an outcome for {_shown(unknown)}{about}, which is not a candidate"
                )
                self.report("warning", written, problem)

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
            raise DataError(f"it has no values{f' if {others}' if others else ''}")
        if parameter.type == "list":
            return LIST_SEPARATOR.join(values[: number + 1])
        return values[number % len(values)]


def _shown(values: Sequence[object]) -> str:
    """Return a text with the first values in quotes, and the number of further values."""
    named = ", ".join(f"'{value}'" for value in values[:_SHOWN_VALUES])
    more = len(values) - _SHOWN_VALUES
    return named if more <= 0 else f"{named} and {more:,} more"
