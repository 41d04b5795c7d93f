"""The baselines of DeLLMa: one prompt, several votes, or a chain of thought (section 4)."""

from __future__ import annotations

from collections import Counter

from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.method import Asking
from dqa.deciders.replies import Choice, Words
from dqa_dellma.deciders import ProblemDecider, ask_decision
from dqa_dellma.findings import Votes
from dqa_dellma.problem import Problem
from dqa_dellma.settings import VotingSettings


class ZeroShot(ProblemDecider):
    """Ask for the decision once, at temperature 0."""

    def solve(self, problem: Problem, key: str, asking: Asking) -> Choice:
        """Return the decision."""
        del key
        return ask_decision("zero_shot", problem, asking).chosen


class SelfConsistency(ProblemDecider):
    """Ask several times with random sampling, and take the majority (Wang et al., 2022).

    Votes for the same action count together, even if they are worded differently. If several
    actions have the most votes, the action that was named first is chosen. Unusable votes do not
    count.
    """

    def solve(self, problem: Problem, key: str, asking: Asking) -> Choice:
        """Return the action with the most votes.

        If no vote can be used, raise the error of the last vote.
        """
        del key
        own = self.settings.own_as(VotingSettings)
        warmer = asking.model.bind(temperature=own.temperature)
        votes = Counter[Candidate]()
        for number in range(1, own.votes + 1):
            try:
                label = f"vote {number}"
                vote = ask_decision("zero_shot", problem, asking, label=label, model=warmer)
                votes[vote.decision] += 1
            except UnparsableReplyError:
                if number == own.votes and not votes:
                    raise
        leading = [action for action, count in votes.items() if count == max(votes.values())]
        found = Votes(
            votes={str(action): count for action, count in votes.items()},
            asked=own.votes,
            unreadable=own.votes - votes.total(),
            tied=tuple(map(str, leading)) if len(leading) > 1 else (),
        )
        asking.note("votes", found)
        return Choice.of(leading[0])


class ChainOfThought(ProblemDecider):
    """Ask for the unknown factors, their probabilities, and then the decision (section 4)."""

    def solve(self, problem: Problem, key: str, asking: Asking) -> Choice:
        """Return the decision."""
        del key
        task = asking.render("task", problem=problem)
        factors = asking.ask(
            "thought_factors", Words, label="unknown factors", note=False, task=task
        ).text
        chances = asking.ask(
            "thought_chances", Words, label="chances", note=False, task=task, factors=factors
        ).text
        thoughts = {"factors": factors, "chances": chances}
        return ask_decision("thought_decision", problem, asking, **thoughts).chosen
