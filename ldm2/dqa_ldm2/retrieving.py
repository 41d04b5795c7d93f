"""Retrieving (section 3.2): by goal type, then by observation type, then by likeness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from dqa.core.events import WarningEvent
from dqa.core.recorder import Recorder
from dqa.core.trajectories import Step
from dqa.deciders.prompting import fold
from dqa.models.conversation import Conversation
from dqa_ldm2.events import IndexedEvent, Kind, Recalled, RecallEvent
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.memory.base import Memory, MemoryType, Remembered, State
from dqa_ldm2.operations.indexing import find_type
from dqa_ldm2.situation import Situation

Find: TypeAlias = Callable[[Memory, int, tuple[str, str], State, int], tuple[Remembered, ...]]
"""Finds tuples of a batch and a place in its two indices; see `Memory.find`."""

_LAST: Final = 8
"""How many of the last actions stand for the history."""


def find_nearest(
    memory: Memory, batch: int, place: tuple[str, str], state: State, most: int
) -> tuple[Remembered, ...]:
    """Return the tuples of a place that are most like a state (equation 3)."""
    return memory.find(batch, *place, state, most)


def last_actions(steps: Sequence[Step]) -> str:
    """Return what was done last, by which histories are compared where nothing sums them up."""
    return "; ".join(step.action for step in steps[-_LAST:])


class Retriever:
    """Retrieves what is most like where somebody is on the way to one goal. Used by one thread.

    What comes from this very episode or question, whatever it is called, is left out of everything:
    of what is found, and of the examples of types that a model is shown.

    Parameters
    ----------
    memory
        What is remembered.
    most
        k.
    find
        Finds the tuples of a place.
    asks
        Whether the model says of which type a goal or an observation is; else their words do.
    shows_own
        Whether nothing is left out.
    """

    def __init__(
        self,
        memory: Memory,
        most: int,
        find: Find = find_nearest,
        *,
        asks: bool = True,
        shows_own: bool = False,
    ) -> None:
        self._memory = memory
        self._most = most
        self._find = find
        self._asks = asks
        self._own: frozenset[str] | None = frozenset() if shows_own else None
        self._shows_own = shows_own
        self._goal_types: dict[int, str] = {}

    def retrieve(
        self, situation: Situation, batch: int, history: str, conversation: Conversation
    ) -> tuple[Remembered, ...]:
        """Return the tuples that are most like a situation, and tell of them.

        Raises
        ------
        InfrastructureError, BudgetSpentError
            As `Conversation.ask` raises them, or the memory cannot be read.
        """
        if self._own is None:
            self._own = own_sources(self._memory, situation)
        goal_type = self._goal_types.get(batch)
        if goal_type is None:
            types = self._memory.goal_types(batch, self._own)
            goal_type = self._type_of("goal", situation.goal, types, batch, conversation)
            self._goal_types[batch] = goal_type
        types = self._memory.observation_types(batch, goal_type, self._own)
        seen = self._type_of("observation", situation.observation, types, batch, conversation)
        shown = self._found(situation, batch, (goal_type, seen), history)
        recorder = conversation.recorder
        recorder.note(
            RecallEvent(
                step=recorder.steps,
                memory=self._memory.location,
                batch=batch,
                goal_type=goal_type,
                observation_type=seen,
                tuples=tuple(map(_recalled, shown)),
                own=len(self._own),
            )
        )
        if self._shows_own:
            _warn_of_own(situation, shown, self._memory.location, recorder)
        else:
            _warn_of_others(situation.identity, shown, self._memory.location, recorder)
        return shown

    def _type_of(
        self,
        kind: Kind,
        text: str,
        types: Sequence[MemoryType],
        batch: int,
        conversation: Conversation,
    ) -> str:
        asked = conversation if self._asks else None
        told: IndexedEvent = find_type(kind, text, types, asked, batch)
        if asked is not None:
            recorder = conversation.recorder
            recorder.note(told.model_copy(update={"step": recorder.steps}))
        return told.type

    def _found(
        self, situation: Situation, batch: int, place: tuple[str, str], history: str
    ) -> tuple[Remembered, ...]:
        """Find; again where something of this very question is among it, added meanwhile."""
        while True:
            own = self._own or frozenset()
            state = State(situation.goal, history, situation.observation, own)
            found = self._find(self._memory, batch, place, state, self._most)
            late = own_of(found, situation)
            if self._shows_own or not late:
                return found
            self._own = own | late


def own_sources(memory: Memory, situation: Situation) -> frozenset[str]:
    """Return the sources in a memory that are the very episode or question of a situation.

    They are found by what they are called, and by goals in the same words, for trajectories that
    somebody else named.
    """
    own = frozenset(source for source in memory.sources() if situation.is_own(source))
    return own | memory.sources_of_goal(situation.words) if situation.words else own


def own_of(found: Sequence[Remembered], situation: Situation) -> frozenset[str]:
    """Return the sources of tuples that come from the very episode or question of a situation.

    They are known by what they are called, or by goals in the same words.
    """
    words = situation.words
    contents = [one.placed.content for one in found]
    return frozenset(
        one.source
        for one in contents
        if situation.is_own(one.source) or (words and fold(one.goal) == words)
    )


def _warn_of_own(
    situation: Situation, shown: Sequence[Remembered], location: str, recorder: Recorder
) -> None:
    """Say it where steps of the very question are shown: that is no evaluation."""
    own = own_of(shown, situation)
    if not own:
        return
    count = sum(one.placed.content.source in own for one in shown)
    recorder.warn_once(
        WarningEvent(
            step=recorder.steps,
            about="memory",
            text=f"The memory {location} showed steps of the very question that is decided "
            "(same_question=true): whether this decision is right says nothing of how others "
            "would be decided. Leave the setting out to evaluate.",
            considered=len(shown) - count,
            total=len(shown),
        )
    )


def _warn_of_others(
    identity: QuestionIdentity | None,
    shown: Sequence[Remembered],
    location: str,
    recorder: Recorder,
) -> None:
    """Say it where nothing that is shown comes from questions of the same scenario."""
    if identity is None or not shown:
        return
    known = [QuestionIdentity.in_source(one.placed.content.source) for one in shown]
    if any(one is not None and one.scenario == identity.scenario_word for one in known):
        return
    recorder.warn_once(
        WarningEvent(
            step=recorder.steps,
            about="memory",
            text=f"The memory {location} holds nothing of '{identity.scenario_word}' that is like "
            "this one: what was nearest comes from elsewhere. Build it from such questions or "
            "games ('dqa memory build').",
            considered=0,
            total=len(shown),
        )
    )


def _recalled(one: Remembered) -> Recalled:
    content = one.placed.content
    return Recalled(
        id=one.id,
        version=one.version,
        source=content.source,
        number=content.number,
        action=content.action,
        likeness=one.likeness,
    )
