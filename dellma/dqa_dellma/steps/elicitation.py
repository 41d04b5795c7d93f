"""Utility elicitation: minibatches of state-action pairs, ranked (section 3.3, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dqa.core.errors import UnparsableReplyError
from dqa.deciders.replies import read_object
from dqa.models.conversation import Conversation
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import RankingEvent
from dqa_dellma.prompting import prompt
from dqa_dellma.utilities.beliefs import Beliefs, describe_state
from dqa_dellma.utilities.pairs import Pairs
from dqa_dellma.utilities.rankings import order_strictly, read_places, read_ranking


class Ranker(Protocol):
    """The third step's only question to a model: one minibatch to its ranking."""

    def rank(
        self,
        problem: Problem,
        beliefs: Beliefs,
        pairs: Pairs,
        batch: Sequence[int],
        conversation: Conversation,
    ) -> RankingEvent:
        """Rank some items of `pairs`, shown in the order of `batch`."""
        ...


class AskedRanking:
    """Asks the model to rank a minibatch.

    Items that it leaves out stay unranked, and what it names twice or makes up is dropped: the
    ranking counts all of it. A minibatch that cannot be read at all ranks nothing.

    Parameters
    ----------
    ties
        Whether items may be called equal.
    """

    def __init__(self, ties: bool = True) -> None:
        self._ties = ties

    def rank(
        self,
        problem: Problem,
        beliefs: Beliefs,
        pairs: Pairs,
        batch: Sequence[int],
        conversation: Conversation,
    ) -> RankingEvent:
        """Rank some items of `pairs`, shown in the order of `batch`."""
        text = prompt(
            "elicitation",
            task=prompt("task", problem=problem),
            beliefs=beliefs,
            ties=self._ties,
            items=[_item(problem, beliefs, pairs, number) for number in batch],
        )
        try:
            return conversation.ask(text, self._reading(batch), "utility elicitation")
        except UnparsableReplyError as error:
            # One minibatch of many: the others still tell the items apart.
            shown = tuple(batch)
            return RankingEvent(shown=shown, items=(), omitted=len(shown), problem=str(error))

    def _reading(self, batch: Sequence[int]) -> Callable[[str], RankingEvent]:
        return lambda reply: _read(reply, batch, ties=self._ties)


def _item(problem: Problem, beliefs: Beliefs, pairs: Pairs, number: int) -> dict[str, Any]:
    action = int(pairs.action_of[number])
    state = pairs.states[pairs.state_of[number]]
    return {
        "state": describe_state(beliefs, state, pairs.bears(number)),
        "number": action + 1,
        "action": problem.actions[action],
    }


def _read(reply: str, batch: Sequence[int], *, ties: bool) -> RankingEvent:
    told = read_object(reply, "rank", "order", "ranking")
    listed = told.get("rank", told.get("order", told.get("ranking")))
    places = read_places(listed)
    found = read_ranking(places if ties else order_strictly(places), batch)
    if len(found.items) < min(2, len(batch)):
        raise UnparsableReplyError(
            f'The reply ranks nothing. Write {{"rank": [...]}} with the numbers 1 to {len(batch)} '
            "from best to worst."
        )
    return found
