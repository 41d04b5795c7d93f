"""Retrieving what was done on the way to other questions' decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dqa.core.events import WarningEvent
from dqa.core.recorder import Recorder
from dqa.core.trajectories import Step
from dqa.models.conversation import Conversation
from dqa_ldm2.events import Recalled, RecallEvent
from dqa_ldm2.identity import QuestionIdentity, own_sources
from dqa_ldm2.memory.base import Memory, Remembered, State
from dqa_ldm2.operations.indexing import find_type
from dqa_ldm2.queries.asking import QuestionSituation
from dqa_ldm2.queries.proving import proven

_LAST: Final = 8
"""How many of the last actions stand for the history."""
_MORE: Final = 4
"""How many times as many tuples are looked at as are shown, as some may be of the same question."""


def history_of(steps: Sequence[Step]) -> str:
    """Return what was done before, by which a state's history is compared."""
    return "; ".join(step.action for step in steps[-_LAST:])


@dataclass(slots=True)
class Retriever:
    """Retrieves by goal type, then by observation type, then by likeness. Used by one thread.

    Steps of the question that is asked are left out of everything: of what is found, and of the
    examples of types that a model is shown. Of what is near, the best proven goes first (`prove`).

    Attributes
    ----------
    memory
        What is remembered.
    most
        k.
    identity
        The question that is asked; None to leave nothing out.
    """

    memory: Memory
    most: int
    identity: QuestionIdentity | None
    _own: frozenset[str] | None = None
    _goal_types: dict[int, str] = field(default_factory=dict)

    def retrieve(
        self, situation: QuestionSituation, batch: int, conversation: Conversation
    ) -> tuple[Remembered, ...]:
        """Return the tuples that are most like a situation, and tell of them.

        Raises
        ------
        InfrastructureError, BudgetSpentError
            As `Conversation.ask` raises them, or the memory cannot be read.
        """
        own, memory, recorder = self._excluded(), self.memory, conversation.recorder
        goal_type = self._goal_types.get(batch)
        if goal_type is None:
            types = memory.goal_types(batch, own)
            told = find_type("goal", situation.goal, types, conversation, batch)
            recorder.note(told.model_copy(update={"step": recorder.steps}))
            goal_type = self._goal_types[batch] = told.type
        seen = memory.observation_types(batch, goal_type, own)
        told = find_type("observation", situation.observation, seen, conversation, batch)
        recorder.note(told.model_copy(update={"step": recorder.steps}))
        state = State(situation.goal, history_of(situation.steps), situation.observation, own)
        found = proven(memory).find(batch, goal_type, told.type, state, self.most * _MORE)
        shown = tuple(one for one in found if self._may_show(one))[: self.most]
        recorder.note(self._event(shown, batch, (goal_type, told.type), recorder))
        self._warn(shown, recorder)
        return shown

    def _excluded(self) -> frozenset[str]:
        if self.identity is None:
            return frozenset()
        if self._own is None:
            self._own = own_sources(self.memory, self.identity)
        return self._own

    def _may_show(self, one: Remembered) -> bool:
        content = one.placed.content
        return self.identity is None or not self.identity.is_of(content.source, content.goal)

    def _event(
        self, shown: Sequence[Remembered], batch: int, place: tuple[str, str], recorder: Recorder
    ) -> RecallEvent:
        return RecallEvent(
            step=recorder.steps,
            memory=self.memory.location,
            batch=batch,
            goal_type=place[0],
            observation_type=place[1],
            tuples=tuple(map(_recalled, shown)),
            own=len(self._excluded()),
        )

    def _warn(self, shown: Sequence[Remembered], recorder: Recorder) -> None:
        """Say it where nothing that is shown comes from questions of this scenario."""
        if self.identity is None or not shown:
            return
        known = [QuestionIdentity.in_source(one.placed.content.source) for one in shown]
        here = replace(self.identity).source().partition("#")[0]
        if any(one is not None and one.scenario == here for one in known):
            return
        recorder.warn_once(
            WarningEvent(
                step=recorder.steps,
                about="memory",
                text=f"The memory {self.memory.location} holds nothing of questions of '{here}' "
                "that is like this one: what was nearest comes from others. Build it from runs "
                "that asked such questions ('dqa memory build --run RUN').",
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
