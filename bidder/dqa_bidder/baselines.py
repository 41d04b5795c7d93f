"""The baselines: direct, chain of thought, Reflexion, and tree of thoughts (appendix B.1)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ConfigDict, Field

from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.method import Asking
from dqa.deciders.replies import Choice, Finding, Options
from dqa_bidder.bidder import TaskDecider, ask_choice, shown
from dqa_bidder.replies import Thought, Thoughts, Vote
from dqa_bidder.settings import ReflexionSettings, ThoughtsSettings
from dqa_bidder.task import Task

_LONGEST_DRAFT, _LONGEST_THOUGHT = 8_000, 4_000
"""The maximum number of characters of a draft, and of a thought, in later prompts."""


class Direct(TaskDecider):
    """Ask only for the decision."""


class ChainOfThought(TaskDecider):
    """Let the model think before it decides, in the same reply (Wei et al.)."""

    def solve(self, task: Task, asking: Asking) -> Choice:
        """Return the decision."""
        return ask_choice("cot", task, asking)


class Revision(Finding):
    """The result of checking a decision."""

    model_config = ConfigDict(title="checked decision")

    before: Candidate = Field(title="before")
    after: Candidate = Field(title="after")


class Reflexion(TaskDecider):
    """Decide with thoughts, then let the model check and correct the decision (Shinn et al.)."""

    def solve(self, task: Task, asking: Asking) -> Choice:
        """Decide, and revise the decision until all rounds or the budget are used."""
        choice = ask_choice("cot", task, asking)
        for number in range(1, self.settings.own_as(ReflexionSettings).rounds + 1):
            before = choice
            draft = asking.last_text[:_LONGEST_DRAFT]
            try:
                label = f"check {number}"
                choice = ask_choice("reflection", task, asking, label=label, draft=draft)
            except OutOfBudgetError:
                asking.recorder.close_by_budget()
                return before
            asking.note("revision", Revision(before=before.action, after=choice.action))
        return choice


class Level(Finding):
    """A level of a tree of thoughts.

    Attributes
    ----------
    level
        The number of the level (counted from 1).
    thoughts
        The proposed thoughts.
    votes
        The number of votes for each thought.
    kept
        The numbers (counted from 0) of the thoughts that continue, the best first.
    """

    model_config = ConfigDict(title="thoughts")

    level: int = Field(title="level")
    thoughts: tuple[Thought, ...] = Field(title="thoughts")
    votes: tuple[int, ...] = Field(title="votes")
    kept: tuple[int, ...]


class TreeOfThoughts(TaskDecider):
    """Propose thoughts level by level, and vote on them (Yao et al.). The last level decides.

    There are at most ``depth * (kept + votes)`` requests.
    """

    @property
    def own(self) -> ThoughtsSettings:
        """The settings of the tree."""
        return self.settings.own_as(ThoughtsSettings)

    def solve(self, task: Task, asking: Asking) -> Choice:
        """Return the decision of the thought with the most votes."""
        selected: list[tuple[Thought, ...]] = [()]
        for level in range(1, self.own.depth + 1):
            last = level == self.own.depth
            proposed = [
                (*path, thought)
                for path in selected
                for thought in self._propose(task, path, asking, last=last)
            ]
            selected = self._best(task, proposed, level, asking)
        thought = selected[0][-1]
        if thought.action is None:
            raise ValueError("The thoughts of the last level must decide for an action.")
        return Choice.of(thought.action, thought.text)

    def _propose(
        self, task: Task, path: Sequence[Thought], asking: Asking, *, last: bool
    ) -> list[Thought]:
        count = self.own.thoughts
        values = {
            **shown(task, asking),
            "path": [thought.text[:_LONGEST_THOUGHT] for thought in path],
            "count": count,
            "last": last,
        }
        options = Options(task.actions, task.noun, task.form) if last else None
        found = asking.ask("thoughts", Thoughts, context=options, label="thoughts", **values)
        return found.thoughts[:count]

    def _best(
        self, task: Task, proposed: Sequence[tuple[Thought, ...]], level: int, asking: Asking
    ) -> list[tuple[Thought, ...]]:
        """Return the paths with the most votes. The next level continues these paths.

        If the budget is spent during the voting, the votes so far decide.
        """
        votes = [0] * len(proposed)
        try:
            if len(proposed) > 1:
                self._vote(task, proposed, votes, asking)
        except OutOfBudgetError:
            if proposed[0][-1].action is None:
                raise
            asking.recorder.close_by_budget()
        order = sorted(range(len(proposed)), key=lambda number: -votes[number])
        selected = order[: self.own.kept]
        thoughts = tuple(path[-1] for path in proposed)
        asking.note(
            "level", Level(level=level, thoughts=thoughts, votes=tuple(votes), kept=tuple(selected))
        )
        return [proposed[number] for number in selected]

    def _vote(
        self, task: Task, proposed: Sequence[tuple[Thought, ...]], votes: list[int], asking: Asking
    ) -> None:
        """Ask for votes, and count the usable votes. Raise an error if no vote is usable."""
        warmer = asking.model.bind(temperature=self.own.temperature)
        thoughts = [
            Thought(
                text="\n".join(thought.text for thought in path)[:_LONGEST_THOUGHT],
                action=path[-1].action,
            )
            for path in proposed
        ]
        values = {**shown(task, asking), "thoughts": thoughts}
        for number in range(1, self.own.votes + 1):
            try:
                label, most = f"vote {number}", len(proposed)
                vote = asking.ask("vote", Vote, context=most, label=label, model=warmer, **values)
                votes[vote.best - 1] += 1
            except UnparsableReplyError:
                if number == self.own.votes and not any(votes):
                    raise
