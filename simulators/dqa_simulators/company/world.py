"""The company as a world (entry point `dqa.worlds`)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from copy import deepcopy
from functools import lru_cache, partial
from typing import Any, Final, cast

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.question import Question
from dqa.worlds.base import WorldFactory
from dqa.worlds.observed import AGENT, BEGINNING, EPISODE, GOAL, LEFT, read_observed
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.company import engine
from dqa_simulators.company.books import CONTEXT, TABLES, Books, supplier_id, to_script
from dqa_simulators.company.bound import bound_profit
from dqa_simulators.company.drawing import draw_company
from dqa_simulators.company.parameters import PAST, Company, CompanySettings, Proposal
from dqa_simulators.company.plans import FORM, PlanError, propose_plans, read_plan
from dqa_simulators.company.policies import POLICIES
from dqa_simulators.company.position import CompanyPosition
from dqa_simulators.company.reading import Reading
from dqa_simulators.games.episode import Facts, GameWorld, SoloEpisode, Start, read_rules

NAME: Final = "company"
_GOAL: Final = "Run the company so that its profit is as large as possible."
_WHOLE: Final = Limits(rows=200_000, bytes=100_000_000, seconds=60.0, cell=10_000_000)


class CompanyEpisode(SoloEpisode):
    """The periods in which a player manages a company.

    Parameters
    ----------
    settings
        The settings of the world.
    start
        The seed, the mirroring and the history of the episode; see `Start`. Mirroring does not
        change the episode.
    """

    def __init__(self, settings: CompanySettings, start: Start) -> None:
        self._company, state, books = _begun(start.seed, settings)
        self._anchors = partial(_compute_anchors, start.seed, settings)
        self._state, self._books = deepcopy(state), books.copy()
        self._proposals = list(self._company.proposals)
        self._open_moves = ExitStack()
        self._refused, self._defaults = False, 0
        text = f"You take over in period {PAST + 1}."
        first = GameEvent(1, f"period {PAST}", NAME, BEGINNING, text)
        super().__init__(NAME, start, _GOAL, settings.periods, first, settings.model_dump(), {})
        self._prepare()

    def facts(self) -> Facts:
        """Return the results of the episode, such as its profit.

        The results include the two anchors of the score: the profit with the score 0, and the
        profit with the score 1.
        """
        self._require_end("facts")
        naive, bound = self._anchors()
        return {
            "profit": self._value,
            "naive profit": naive,
            "bound": bound,
            "bankrupt": self._is_over,
            "default plans": self._defaults,
            "periods": self._state.period - PAST,
        }

    def close(self) -> None:
        """Close the databases of all moves."""
        self._open_moves.close()
        super().close()

    @property
    def _value(self) -> float:
        return engine.settle(self._company, self._state)

    @property
    def _is_over(self) -> bool:
        """Whether the company is bankrupt."""
        return self._state.cash < 0

    @property
    def _left(self) -> int:
        """The number of remaining periods, including the current one."""
        return self._company.settings.total - self._state.period

    @property
    def _contract(self) -> str:
        """The terms of the signed contract and the ordered units; empty without a contract."""
        signed = [one for one in self._company.proposals if one.kind == "contract"]
        if self._state.signed < 0 or not signed:
            return ""
        return (
            f" Contract with {supplier_id(self._state.signed)}: {self._state.committed:.0f} of at "
            f"least {signed[0].minimum} units are ordered."
        )

    @property
    def _proposal(self) -> Proposal | None:
        """The next proposal to decide; None if the plan is next."""
        return next((one for one in self._proposals if one.period == self._state.period), None)

    def _position(self, viewer: str) -> CompanyPosition:
        proposal, reading = self._proposal, Reading(self._books.snapshot(self.game, self._events))
        actions = propose_plans(reading) if proposal is None else proposal.choices
        return CompanyPosition(
            *(NAME, _GOAL, actions, tuple(self._events), "" if proposal else FORM),
            viewer=viewer,
            reading=reading,
            proposal="" if proposal is None else proposal.kind,
            left=self._left,
        )

    def _ask(self, position: Position) -> tuple[str, str]:
        del position
        period = self._state.period + 1
        start = (
            f"Period {period}. Periods left, including this one: {self._left} of "
            f"{self._company.settings.periods}. Cash: {self._state.cash:.0f}."
            f"{self._contract} {self._events[-1].detail}\n"
        )
        if (proposal := self._proposal) is not None:
            return f"{start}{proposal.text}", read_rules(__file__)
        return f"{start}Which plan do you choose for period {period}?", read_rules(__file__)

    def _context(self) -> tuple[str, ...]:
        return CONTEXT

    def _target(self) -> Mapping[str, str]:
        return {GOAL: _GOAL, EPISODE: str(self.game), LEFT: str(self._left)}

    def _apply(self, action: str) -> list[GameEvent]:
        proposal, period = self._proposal, self._state.period + 1
        if proposal is not None:
            engine.decide_proposal(self._state, proposal, action)
            self._proposals.remove(proposal)
            self._books.refresh(self._state)
            return self._add_event(proposal.kind, action, f"Decided: {action}.")
        reading = self._reading
        try:
            plan = read_plan(reading, action)
        except PlanError as error:
            if not self._refused:
                self._refused = True
                return self._add_event("refused", action, f"Your plan was refused: {error}")
            self._defaults += 1
            action = str(propose_plans(reading)[0])
            plan = read_plan(reading, action)
        self._refused = False
        self._state, report = engine.play_period(self._company, self._state, plan)
        self._books.record(report, self._state)
        events = self._add_event(f"period {period}", action, _describe(report, period))
        self._prepare()
        return events

    def _prepare(self) -> None:
        """Write the tables before the next period."""
        if self._left:
            self._books.prepare(self._state)

    def _open(self, player: str) -> Database:
        """Return an in-memory database with the books before the current move."""
        del player
        self._require_open()
        script = to_script(self._reading.tables)
        return self._open_moves.enter_context(plugins.backend("sqlite").scratch(script))

    @property
    def _reading(self) -> Reading:
        """The books before the next move."""
        return cast("CompanyPosition", self._move.position).reading  # type: ignore[union-attr]

    def _reveal(self) -> engine.State:
        return deepcopy(self._state)

    def _returns(self) -> Mapping[str, float]:
        naive, bound = self._anchors()
        return {AGENT: round((self._value - naive) / (bound - naive), 6)}


def _describe(report: engine.Report, period: int) -> str:
    """Describe the result of a period. The text contains only facts from the books."""
    amounts = ", ".join(f"{name} {amount:.0f}" for name, amount in report.money.items() if amount)
    lost = int(report.lost.sum() > 0)
    short = " Some customers found no stock." if lost else ""
    return f"Period {period}: profit {report.profit:.0f} ({amounts}).{short}"


@lru_cache(maxsize=4)
def _begun(seed: int, settings: CompanySettings) -> tuple[Company, engine.State, Books]:
    """Return the company of a seed, its state after the periods before the game, and its books."""
    company = draw_company(seed, settings)
    books = Books(company, seed)
    state = engine.play_history(company, seed, engine.begin(company), books)
    state.cash = company.cash
    return company, state, books


@lru_cache(maxsize=4096)
def _compute_anchors(seed: int, settings: CompanySettings) -> tuple[float, float]:
    """Return the profits with the scores 0 and 1: the naive policy's profit, and the bound."""
    company, state, books = _begun(seed, settings)
    return engine.play_naive(company, state, books), bound_profit(company, state)


class CompanyWorld(GameWorld[CompanySettings, CompanyEpisode]):
    """Companies, one for each seed."""

    name = NAME
    players = (AGENT,)
    payoffs = (None, 1.0)

    def begin(self, start: Start) -> CompanyEpisode:
        """Start the episode of a seed."""
        return CompanyEpisode(self._settings, start)

    def position(self, question: Question, database: Database) -> CompanyPosition:
        """Return the state that a question is about. Read it from the question's database."""
        seen = read_observed(question, database)
        tables: dict[str, tuple[Any, ...]] = {
            name: database.query(f"SELECT * FROM {name}", _WHOLE).rows  # noqa: S608
            for name in TABLES
        }
        kinds = [one.split()[0] for one in map(str, seen.actions)]
        return CompanyPosition(
            *(NAME, seen.goal, seen.actions, seen.events, seen.free_form),
            reading=Reading(tables),
            proposal="" if seen.free_form else _KINDS[kinds[0]],
            left=int(question.target[LEFT]),
        )


_KINDS: Final = {"decline": "contract", "none": "promotion", "keep": "closing"}

WORLD = WorldFactory(
    name=NAME,
    description="managing shops: orders, prices and contracts over periods",
    make=CompanyWorld,
    settings=CompanySettings,
    policies=POLICIES,
)
"""The entry point."""

__all__ = ["NAME", "WORLD", "CompanyEpisode", "CompanyWorld"]
