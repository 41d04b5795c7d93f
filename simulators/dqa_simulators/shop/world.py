"""The world of the shop (entry point `dqa.worlds`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Final

from pydantic import Field

from dqa.core.question import Candidate, Question
from dqa.worlds.base import WorldFactory
from dqa.worlds.observed import AGENT, BEGINNING, ObservedPosition, read_observed
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.games.episode import Facts, GameWorld, SoloEpisode, Start, read_rules
from dqa_simulators.shop.catalogue import Catalogue, Source, open_catalogue
from dqa_simulators.shop.pages import View, follow, shorten_search, show
from dqa_simulators.shop.players import POLICIES
from dqa_simulators.shop.records import Goal
from dqa_simulators.shop.reward import OptionRatio, Reward, count_reward

if TYPE_CHECKING:
    from dqa.core.database import Database

NAME: Final = "shop"
_OFFICIAL_ORDER: Final = 233
"""WebShop's seed for shuffling its goals. Papers test on the first 500 goals."""


class ShopSettings(Source, frozen=True):
    """The settings of the world, in addition to the source of its catalogue.

    Attributes
    ----------
    steps
        The maximum number of actions of a visit.
    option_ratio
        The measure that compares a chosen option with a wanted option.
    """

    steps: int = Field(
        default=15, ge=1, le=1000, description="the maximum number of actions of a visit"
    )
    option_ratio: OptionRatio = Field(
        default="ratio",
        description="the measure that compares options; WebShop's program uses token_set_ratio",
    )


class ShopEpisode(SoloEpisode):
    """One visit to the shop.

    Parameters
    ----------
    catalogue, goal
        The catalogue of the shop, and the goal of the visit.
    settings
        The settings of the world.
    start
        The seed, the mirroring and the history of the episode; see `Start`. Mirroring does not
        change the visit.
    """

    def __init__(
        self, catalogue: Catalogue, goal: Goal, settings: ShopSettings, start: Start
    ) -> None:
        self._catalogue, self._wish, self._settings = catalogue, goal, settings
        self._wanted = catalogue.product(goal.asin)
        self._view = View()
        self._page = show(self._view, catalogue, goal.instruction)
        self._reward: Reward | None = None
        super().__init__(
            *(NAME, start, goal.instruction, settings.steps),
            first=GameEvent(1, "search", NAME, BEGINNING, self._page.text),
            settings={"products": catalogue.products, "steps": settings.steps},
            hidden={NAME: {"wanted": goal.asin}},
        )

    def facts(self) -> Facts:
        """Return the bought product, its options, and the parts of its reward."""
        self._require_end("purchase")
        counted = self._reward
        facts: dict[str, Candidate | float | bool | None] = {
            "success": self._returns()[AGENT] == 1.0,
            "task": self._wanted.query or NAME,
            "bought": None if counted is None else self._view.asin,
            "options": None if counted is None else _describe_options(self._view),
            "steps": len(self._events) - 1,
        }
        if counted is not None:
            facts["attribute hits"] = counted.attribute_hits / max(counted.attributes, 1)
            facts["within bound"] = counted.is_within_bound
            facts["r_type"] = counted.r_type
        return facts

    @property
    def _is_over(self) -> bool:
        return self._view.page == "end"

    def _position(self, viewer: str) -> ObservedPosition:
        page, events = self._page, tuple(self._events)
        return ObservedPosition(
            *(NAME, self._goal, page.actions, events, page.free_form), viewer=viewer
        )

    def _ask(self, position: Position) -> tuple[str, str]:
        del position
        done = [event.action for event in self._events[1:]]
        history = f"So far: {'; '.join(done)}." if done else "Nothing has been done so far."
        text = (
            f"Buy what this instruction asks for: {self._goal}\n{history}\n"
            f"You see: {self._page.text}\nActions left: {self._left}. What do you do next?"
        )
        return text, read_rules(__file__)

    def _apply(self, action: str) -> list[GameEvent]:
        done = shorten_search(action)
        self._view = follow(self._view, done, self._catalogue)
        self._page = show(self._view, self._catalogue, self._goal)
        if self._is_over:
            bought, chosen = self._catalogue.product(self._view.asin), dict(self._view.chosen)
            ratio = self._settings.option_ratio
            self._reward = count_reward(bought, self._wish, self._wanted, chosen, ratio)
        return self._add_event(self._view.page, done, self._page.text)

    def _reveal(self) -> Goal:
        return self._wish

    def _returns(self) -> Mapping[str, float]:
        return {AGENT: 0.0 if self._reward is None else self._reward.value}


def _describe_options(view: View) -> str:
    return "; ".join(f"{name}: {value}" for name, value in view.chosen) or "none"


class Shop(GameWorld[ShopSettings, ShopEpisode]):
    """Visits to a shop. Each visit has an instruction."""

    name = NAME
    players = (AGENT,)
    payoffs = (0.0, 1.0)

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue. It is opened on first use, and built if the cache lacks it."""
        return open_catalogue(self._settings)

    def begin(self, start: Start) -> ShopEpisode:
        """Start a visit with the goal of a seed. Consecutive seeds have different goals."""
        catalogue = self.catalogue
        goal = catalogue.goal(_order(catalogue.goals)[start.seed % catalogue.goals])
        return ShopEpisode(catalogue, goal, self._settings, start)

    def position(self, question: Question, database: Database) -> ObservedPosition:
        """Return the state that a question is about. Read it from the question's database."""
        return read_observed(question, database)


@lru_cache(maxsize=4)
def _order(count: int) -> tuple[int, ...]:
    """Return the order in which consecutive seeds use the `count` goals.

    WebShop has the same order.
    """
    order = list(range(count))
    Random(_OFFICIAL_ORDER).shuffle(order)  # noqa: S311  (not a secret)
    return tuple(order)


WORLD = WorldFactory(
    name=NAME,
    description="buying a product by an instruction: search a catalogue and click",
    make=Shop,
    settings=ShopSettings,
    policies=POLICIES,
    foreseen=False,
)
