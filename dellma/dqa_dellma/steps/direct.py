"""The baselines that DeLLMa is compared with: one prompt, several votes, or a chain (section 4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dqa.core.errors import InvalidAnswerError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.answers import read_answer
from dqa_dellma.asking import Asker, read_object
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import VotesEvent
from dqa_dellma.prompting import prompt

__all__ = [
    "ChainOfThought",
    "DirectMethod",
    "SelfConsistency",
    "ZeroShot",
    "action_named",
    "decision_in",
]

_NUMBERED = re.compile(
    r"\baction\W{0,5}(?P<number>\d{1,9})(?!\d)(?:[.:)\]]+\W{0,2})?", re.IGNORECASE
)
_ALONE = re.compile(r"[ #]*\d{1,9}[ .]*")


class DirectMethod(Protocol):
    """Decides a problem by asking for the decision."""

    def answer(self, problem: Problem, asker: Asker) -> str:
        """Return the decision in the model's words."""
        ...


def action_named(said: str, actions: Sequence[Candidate], noun: str = "action") -> Candidate | None:
    """Return the action that a decision names, or None where it names none or several.

    Prompts list actions as "Action 2. name", and models repeat that: the name decides, and the
    number only where no action's name stands beside it, so that ids that are numbers are not
    mistaken. A number alone is an id where an action has it, and else an action's number.
    """
    try:
        return read_answer(_NUMBERED.sub(" ", said, count=1), actions, noun)
    except InvalidAnswerError as error:
        if error.named:
            return None
    numbers = {int(found["number"]) for found in _NUMBERED.finditer(said)}
    if not numbers and _ALONE.fullmatch(said):
        numbers = {int(said.strip(" .#"))}
    if len(numbers) != 1:
        return None
    place = numbers.pop()
    if 1 <= place <= len(actions):
        return actions[place - 1]
    try:
        return read_answer(said, actions, noun)
    except InvalidAnswerError:
        return None


def decision_in(reply: Mapping[str, Any]) -> str | None:
    """Return what a reply's object decides, in its words or as its number; None for nothing."""
    told = reply.get("decision")
    if isinstance(told, int) and not isinstance(told, bool):
        return str(told)
    return told.strip() or None if isinstance(told, str) else None


class ZeroShot:
    """Asks once, at temperature 0."""

    def answer(self, problem: Problem, asker: Asker) -> str:
        """Return the decision."""
        return asker.ask("decision", _zero_shot(problem), _decision)


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Asks several times with some randomness and takes the majority (Wang et al., 2022).

    Votes for the same action count together however they are worded; of actions with as many
    votes, the one that was named first. Votes that name no action, or several, and those that
    cannot be read decide nothing: they are noted, and do not count.

    Attributes
    ----------
    votes
        K; the paper has 5.
    temperature
        Of each vote; the paper has 0.5.
    """

    votes: int = 5
    temperature: float = 0.5

    def answer(self, problem: Problem, asker: Asker) -> str:
        """Return the action with most votes; where no vote names one, what most of them say."""
        said = self._said(problem, asker)
        named = [(words, action_named(words, problem.actions)) for words in said]
        votes = Counter(str(choice) for _, choice in named if choice is not None)
        others = Counter(words for words, choice in named if choice is None)
        most = max(votes.values(), default=0)
        leading = [action for action, count in votes.items() if count == most]
        asker.events.append(
            VotesEvent(
                step=asker.steps,
                votes=votes,
                asked=self.votes,
                others=others,
                unreadable=self.votes - len(said),
                tied=tuple(leading) if len(leading) > 1 else (),
            )
        )
        return leading[0] if leading else others.most_common(1)[0][0]

    def _said(self, problem: Problem, asker: Asker) -> list[str]:
        """Ask for the votes; `UnparsableReplyError` where none of them can be read."""
        warmer = asker.model.bind(temperature=self.temperature)
        text = _zero_shot(problem)
        said: list[str] = []
        for number in range(1, self.votes + 1):
            try:
                said.append(asker.ask(f"vote {number}", text, _decision, warmer))
            except UnparsableReplyError:
                if number == self.votes and not said:
                    raise
        return said


class ChainOfThought:
    """Asks for the unknown factors, then for their chances, then for the decision (section 4)."""

    def answer(self, problem: Problem, asker: Asker) -> str:
        """Return the decision."""
        task = prompt("task", problem=problem)
        factors = asker.ask("unknown factors", prompt("thought_factors", task=task), _words)
        text = prompt("thought_chances", task=task, factors=factors)
        chances = asker.ask("chances", text, _words)
        text = prompt("thought_decision", task=task, factors=factors, chances=chances)
        return asker.ask("decision", text, _decision)


def _zero_shot(problem: Problem) -> str:
    return prompt("zero_shot", task=prompt("task", problem=problem))


def _words(reply: str) -> str:
    if not reply:
        raise UnparsableReplyError("The reply is empty.")
    return reply


def _decision(reply: str) -> str:
    said = decision_in(read_object(reply, "decision"))
    if said is None:
        raise UnparsableReplyError('The reply decides nothing. Write {"decision": "..."}.')
    return said
