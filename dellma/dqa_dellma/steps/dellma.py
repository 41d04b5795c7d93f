"""DeLLMa: enumerate, forecast, elicit, maximise (sections 3.1 to 3.4).

The four steps are methods, so a subclass replaces one of them. `Dellma.solve` records what they
return: a decision has its tree whoever took its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqa.core.errors import UnparsableReplyError
from dqa.deciders.actions import Chosen
from dqa.deciders.method import Asking
from dqa_dellma.context.problem import Problem
from dqa_dellma.deciders import ProblemDecider
from dqa_dellma.findings import Forecast, NamedFactors, Ranking
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.steps.enumeration import Wanted, read_factors
from dqa_dellma.steps.forecasting import read_forecast
from dqa_dellma.steps.sampling import Elicitation
from dqa_dellma.utilities.beliefs import WEIGHTS, Beliefs, Factors, bearing_of, describe_state
from dqa_dellma.utilities.maximisation import Maximised, maximise
from dqa_dellma.utilities.pairs import Pairs
from dqa_dellma.utilities.rankings import read_ranking
from dqa_dellma.utilities.why import explain_choice


class Dellma(ProblemDecider):
    """The method."""

    @property
    def own(self) -> DellmaSettings:
        """Its settings; each epoch has its own seed."""
        own = self.settings.own_as(DellmaSettings)
        return own.model_copy(update={"seed": own.seed + self.settings.epoch - 1})

    def enumerate(self, problem: Problem, asking: Asking) -> NamedFactors:
        """Ask for k factors with l values each (section 3.1).

        k is the number of general factors and of each action's own, or at most `factors`: then the
        model says which matter.
        """
        own = self.own
        whole = own.general + own.own * len(problem.actions)
        wanted = Wanted(problem.actions, min(whole, own.factors), own.values)
        return asking.ask(
            "enumeration",
            NamedFactors,
            label="state enumeration",
            read=lambda reply: read_factors(reply, wanted),
            note=False,
            **_task(problem, asking),
            actions=len(problem.actions),
            factors=wanted.factors,
            general=own.general,
            own=own.own,
            whole=whole <= own.factors,
            values=own.values,
        )

    def forecast(self, problem: Problem, factors: Factors, asking: Asking) -> Forecast:
        """Ask how likely each value of each factor is, in words (section 3.2)."""
        return asking.ask(
            "forecasting",
            Forecast,
            label="state forecasting",
            read=lambda reply: read_forecast(reply, factors),
            note=False,
            **_task(problem, asking),
            factors=factors,
            weights=[f"{words} ({weight})" for words, weight in WEIGHTS.items()],
        )

    def rank(
        self,
        problem: Problem,
        beliefs: Beliefs,
        pairs: Pairs,
        batch: Sequence[int],
        asking: Asking,
    ) -> Ranking:
        """Ask for the ranking of a minibatch, shown in its order (section 3.3).

        If no reply can be used, nothing is ranked: the other minibatches still tell the items
        apart.
        """
        ties = self.own.ties
        try:
            return asking.ask(
                "elicitation",
                Ranking,
                label="utility elicitation",
                read=lambda reply: read_ranking(reply, batch, ties=ties),
                note=False,
                **_task(problem, asking),
                beliefs=beliefs,
                ties=ties,
                items=[_item(problem, beliefs, pairs, number) for number in batch],
            )
        except UnparsableReplyError as error:
            shown = tuple(batch)
            return Ranking(shown=shown, items=(), omitted=len(shown), problem=str(error))

    def maximise(self, pairs: Pairs, rankings: Sequence[Ranking], actions: int) -> Maximised:
        """Find the best action (section 3.4); `DataError` for rankings without figures."""
        return maximise(pairs, rankings, actions, self.own)

    def solve(self, problem: Problem, key: str, asking: Asking) -> Chosen:
        """Take the four steps, and choose the action of the largest expected utility."""
        named = self.enumerate(problem, asking)
        asking.note("enumeration", named)
        forecast = self.forecast(problem, named.factors, asking)
        asking.note("forecasting", forecast)
        beliefs = forecast.beliefs
        elicitation = Elicitation(
            rank=lambda pairs, batch: self.rank(problem, beliefs, pairs, batch, asking),
            maximise=self.maximise,
            note=asking.note,
            settings=self.own,
            actions=len(problem.actions),
        )
        rng = np.random.default_rng([self.own.seed, *key.encode()])
        elicited = elicitation.run(beliefs, rng, bearing_of(beliefs, named.about, problem.actions))
        why = explain_choice(problem, beliefs, elicited)
        asking.note("utilities", elicited.found(problem.actions, why))
        action = problem.actions[elicited.best]
        return Chosen(str(action), action)


def _task(problem: Problem, asking: Asking) -> dict[str, Any]:
    return {"task": asking.render("task", problem=problem), "problem": problem}


def _item(problem: Problem, beliefs: Beliefs, pairs: Pairs, number: int) -> dict[str, Any]:
    action = int(pairs.action_of[number])
    state = pairs.states[pairs.state_of[number]]
    return {
        "state": describe_state(beliefs, state, pairs.bears(number)),
        "number": action + 1,
        "action": problem.actions[action],
    }
