"""What is known of one decision process while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqa.core.trajectories import Step
from dqa.models.conversation import Conversation
from dqa_ldm2.events import Subgoal
from dqa_ldm2.operations.judging import summarise
from dqa_ldm2.situation import Situation


@dataclass(slots=True)
class Process:
    """Keeps what was found at earlier steps, so that each step asks for what is new. One thread's.

    Attributes
    ----------
    subgoals
        As they were judged last.
    """

    subgoals: tuple[Subgoal, ...] = ()
    _goal: str = ""
    _steps: tuple[Step, ...] = ()
    _summary: str = ""

    def summarised(self, situation: Situation, conversation: Conversation, most: int) -> str:
        """Return the history of a situation, from that of an earlier one where it can be."""
        return self.summary_of(situation.goal, situation.steps, conversation, most)

    def summary_of(
        self, goal: str, steps: Sequence[Step], conversation: Conversation, most: int
    ) -> str:
        """Return the history of steps: one request at most, and none for what is known."""
        steps = tuple(steps)
        known = len(self._steps)
        if goal != self._goal or steps[:known] != self._steps:
            known = 0
        if known < len(steps):
            before = self._summary if known else ""
            found = summarise(goal, steps, conversation, before=before, known=known, most=most)
            self._goal, self._steps, self._summary = goal, steps, found
        elif not steps:
            return ""
        return self._summary
