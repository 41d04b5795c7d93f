"""The baselines that DeLLMa is compared with: one prompt, several votes, or a chain (section 4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.actions import Chosen
from dqa.deciders.replies import read_action, read_decision, read_object
from dqa.models.calling import ChatRunnable
from dqa.models.conversation import Conversation
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import VotesEvent
from dqa_dellma.prompting import prompt


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
