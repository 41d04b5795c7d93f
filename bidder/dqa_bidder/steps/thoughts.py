"""A tree of thoughts: propose several, judge them by votes, go on with the best (Yao et al.)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dqa.core.budgets import ENDLESS, DecisionBudget
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.actions import Chosen, name_action
from dqa.deciders.replies import read_object
from dqa.models.conversation import Conversation
from dqa_bidder.events import Thought, ThoughtsEvent
from dqa_bidder.prompting import prompt
from dqa_bidder.settings import ThoughtsSettings
from dqa_bidder.task import Task

_LONGEST = 4_000
"""Most characters of a thought that later prompts show."""


@dataclass(frozen=True, slots=True)
class _Branch:
    """A thought with those that led to it."""

    path: tuple[Thought, ...]

    @property
    def last(self) -> Thought:
        """The newest."""
        return self.path[-1]


class TreeOfThoughts:
    """Goes level by level; the thoughts of the last one decide.

    There are at most ``depth * (kept + votes)`` requests. See `dqa_bidder.steps.bidder.Chooser`.

    Parameters
    ----------
    settings
        How many levels, thoughts and votes.
    """

    def __init__(self, settings: ThoughtsSettings) -> None:
        self._settings = settings

    def choose(
        self, task: Task, conversation: Conversation, budget: DecisionBudget = ENDLESS
    ) -> Chosen:
        """Return the decision of the thought that was voted best."""
        del budget
        kept = [_Branch(())]
        for level in range(1, self._settings.depth + 1):
            last = level == self._settings.depth
            proposed = [
                _Branch((*branch.path, thought))
                for branch in kept
                for thought in self._propose(task, branch, conversation, last=last)
            ]
            kept = self._best(task, proposed, level, conversation)
        thought = kept[0].last
        if thought.action is None:
            raise ValueError("The thoughts of the last level decide for an action.")
        return Chosen(str(thought.action), thought.action, thought.text)

    def _propose(
        self, task: Task, branch: _Branch, conversation: Conversation, *, last: bool
    ) -> list[Thought]:
        count = self._settings.thoughts
        text = prompt(
            "thoughts",
            task,
            task.position,
            task.actions,
            path=[thought.text[:_LONGEST] for thought in branch.path],
            count=count,
            last=last,
        )

        def read(reply: str) -> list[Thought]:
            return _read_thoughts(reply, task.actions if last else (), task.noun)[:count]

        return conversation.ask(text, read, "thoughts")

    def _best(
        self, task: Task, proposed: Sequence[_Branch], level: int, conversation: Conversation
    ) -> list[_Branch]:
        """Return the branches that go on; by the votes that there are, where a budget ends them."""
        votes = [0] * len(proposed)
        recorder = conversation.recorder
        try:
            if len(proposed) > 1:
                self._vote(task, proposed, votes, conversation)
        except OutOfBudgetError:
            if proposed[0].last.action is None:
                raise
            recorder.close_by_budget()
        order = sorted(range(len(proposed)), key=lambda number: -votes[number])
        kept = order[: self._settings.kept]
        recorder.note(
            ThoughtsEvent(
                step=recorder.steps,
                level=level,
                thoughts=tuple(branch.last for branch in proposed),
                votes=tuple(votes),
                kept=tuple(kept),
            )
        )
        return [proposed[number] for number in kept]

    def _vote(
        self,
        task: Task,
        proposed: Sequence[_Branch],
        votes: list[int],
        conversation: Conversation,
    ) -> None:
        """Count votes; those that cannot be read do not count, unless none can be."""
        warmer = conversation.model.bind(temperature=self._settings.temperature)
        thoughts = [
            Thought(
                text="\n".join(thought.text for thought in branch.path)[:_LONGEST],
                action=branch.last.action,
            )
            for branch in proposed
        ]
        text = prompt("vote", task, task.position, task.actions, thoughts=thoughts)
        for number in range(1, self._settings.votes + 1):
            try:
                best = conversation.ask(
                    text,
                    lambda reply: _read_vote(reply, len(proposed)),
                    f"vote {number}",
                    model=warmer,
                )
                votes[best - 1] += 1
            except UnparsableReplyError:
                if number == self._settings.votes and not any(votes):
                    raise


def _read_thoughts(reply: str, actions: Sequence[Candidate], noun: str) -> list[Thought]:
    """Return the thoughts of a reply; where actions are given, those that name one of them."""
    listed = read_object(reply, "thoughts").get("thoughts")
    found: list[Thought] = []
    problem = ""
    for one in listed if isinstance(listed, list) else []:
        try:
            found.append(_read_thought(one, actions, noun))
        except UnparsableReplyError as error:
            problem = f" {error}"
    if found:
        return found
    form = '{"thought": "...", "action": "..."}' if actions else '{"thought": "..."}'
    raise UnparsableReplyError(f'No thought can be used.{problem} Write {{"thoughts": [{form}]}}.')


def _read_thought(one: Any, actions: Sequence[Candidate], noun: str) -> Thought:  # noqa: ANN401
    told: Mapping[str, Any] = one if isinstance(one, dict) else {"thought": one}
    text = told.get("thought")
    text = text.strip() if isinstance(text, str) else ""
    if not actions:
        if not text:
            raise UnparsableReplyError("A thought is empty.")
        return Thought(text=text)
    said = told.get("action")
    if said is None:
        raise UnparsableReplyError("A thought names no action.")
    words = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return Thought(text=text, action=name_action(words, actions, noun))


def _read_vote(reply: str, most: int) -> int:
    told = read_object(reply, "best").get("best")
    text = str(told).strip().removeprefix("Thought").strip()
    number = int(text) if text.isdecimal() and text.isascii() and len(text) < 4 else 0
    if not 1 <= number <= most:
        raise UnparsableReplyError(
            f'There are {most} thoughts: write {{"best": <a number from 1 to {most}>}}.'
        )
    return number
