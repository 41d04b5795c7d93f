"""The baselines that DeLLMa is compared with: one prompt, several votes, or a chain (section 4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dqa.core.errors import InvalidAnswerError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.answers import read_answer
from dqa.models.calling import ChatRunnable
from dqa.models.conversation import Conversation
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import VotesEvent
from dqa_dellma.prompting import prompt
from dqa_dellma.replies import read_object
from dqa_dellma.steps.choosing import Chosen

_NUMBERED = re.compile(r"\W*action\W{0,5}(?P<number>\d{1,9})\b[\s.:*_\"'()\[\]-]*", re.IGNORECASE)
"""The number before an action as prompts list it, "Action 2. name", and as models repeat that."""
_ALONE = re.compile(r"[\s#]*(?P<number>\d{1,9})[\s.]*")


def read_action(said: str, actions: Sequence[Candidate], noun: str = "action") -> Candidate:
    """Return the action that a decision names.

    It is read as `dqa.deciders.answers.read_answer` does, behind a number such as "Action 2.",
    which does not count there. The number alone is that action, and so is a bare number, unless an
    action has it as an id.

    Raises
    ------
    InvalidAnswerError
        It names none of the actions, or several; the message tells the model what to write.
    """
    verbatim = {str(action): action for action in actions}
    if said.strip() in verbatim:
        return verbatim[said.strip()]
    label = _NUMBERED.match(said)
    name = said if label is None else said[label.end() :]
    if label is not None and not name and 1 <= int(label["number"]) <= len(actions):
        return actions[int(label["number"]) - 1]
    try:
        return read_answer(name, actions, (noun,))
    except InvalidAnswerError:
        alone = _ALONE.fullmatch(said)
        if alone is None or not 1 <= int(alone["number"]) <= len(actions):
            raise
        return actions[int(alone["number"]) - 1]


def read_decision(reply: Mapping[str, Any]) -> str | None:
    """Return what a reply's object decides, in its words or as its number; None for nothing."""
    told = reply.get("decision")
    if isinstance(told, int) and not isinstance(told, bool):
        return str(told)
    return told.strip() or None if isinstance(told, str) else None


class ZeroShot:
    """Asks once, at temperature 0."""

    def choose(self, problem: Problem, key: str, conversation: Conversation) -> Chosen:
        """Return the decision; see `dqa_dellma.steps.choosing.Chooser`."""
        del key
        return _decide(_zero_shot(problem), "decision", problem, conversation)


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Asks several times with some randomness and takes the majority (Wang et al., 2022).

    Votes for the same action count together however they are worded; of actions with as many
    votes, the one that was named first. Votes that cannot be read do not count.

    Attributes
    ----------
    votes
        K; the paper has 5.
    temperature
        Of each vote; the paper has 0.5.
    """

    votes: int = 5
    temperature: float = 0.5

    def choose(self, problem: Problem, key: str, conversation: Conversation) -> Chosen:
        """Return the action with most votes; see `dqa_dellma.steps.choosing.Chooser`."""
        del key
        named = self._named(problem, conversation)
        votes = Counter(named)
        leading = [action for action, count in votes.items() if count == max(votes.values())]
        recorder = conversation.recorder
        recorder.note(
            VotesEvent(
                step=recorder.steps,
                votes={str(action): count for action, count in votes.items()},
                asked=self.votes,
                unreadable=self.votes - len(named),
                tied=tuple(map(str, leading)) if len(leading) > 1 else (),
            )
        )
        return Chosen(str(leading[0]), leading[0])

    def _named(self, problem: Problem, conversation: Conversation) -> list[Candidate]:
        """Ask for the votes; `UnparsableReplyError` where none of them can be read."""
        warmer = conversation.model.bind(temperature=self.temperature)
        text = _zero_shot(problem)
        named: list[Candidate] = []
        for number in range(1, self.votes + 1):
            try:
                vote = _decide(text, f"vote {number}", problem, conversation, warmer)
                named.append(vote.action)
            except UnparsableReplyError:
                if number == self.votes and not named:
                    raise
        return named


class ChainOfThought:
    """Asks for the unknown factors, then for their chances, then for the decision (section 4)."""

    def choose(self, problem: Problem, key: str, conversation: Conversation) -> Chosen:
        """Return the decision; see `dqa_dellma.steps.choosing.Chooser`."""
        del key
        task = prompt("task", problem=problem)
        factors = conversation.ask(prompt("thought_factors", task=task), _words, "unknown factors")
        text = prompt("thought_chances", task=task, factors=factors)
        chances = conversation.ask(text, _words, "chances")
        text = prompt("thought_decision", task=task, factors=factors, chances=chances)
        return _decide(text, "decision", problem, conversation)


def _zero_shot(problem: Problem) -> str:
    return prompt("zero_shot", task=prompt("task", problem=problem))


def _words(reply: str) -> str:
    if not reply:
        raise UnparsableReplyError("The reply is empty.")
    return reply


def _decide(
    text: str,
    purpose: str,
    problem: Problem,
    conversation: Conversation,
    model: ChatRunnable | None = None,
) -> Chosen:
    def read(reply: str) -> Chosen:
        said = read_decision(read_object(reply, "decision"))
        if said is None:
            raise UnparsableReplyError('The reply decides nothing. Write {"decision": "..."}.')
        return Chosen(said, read_action(said, problem.actions, problem.noun))

    return conversation.ask(text, read, purpose, model=model)
