"""The DeLLMa method: enumerate, forecast, elicit and maximise (sections 3.1 to 3.4).

Each of the four steps is a method that a subclass can replace. `Dellma.solve` records the results
of the steps, so the decisions of a subclass have a decision tree too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqa.core.errors import DataError, UnparsableReplyError
from dqa.deciders.method import Asking
from dqa.deciders.replies import Choice
from dqa_dellma.deciders import ProblemDecider, task_values
from dqa_dellma.findings import Forecast, NamedFactors, Ranking
from dqa_dellma.problem import Problem
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.steps.enumeration import Wanted, read_factors
from dqa_dellma.steps.forecasting import read_forecast
from dqa_dellma.utilities.beliefs import WEIGHTS, Beliefs, Factors, bearing_of, describe_state
from dqa_dellma.utilities.maximisation import Maximised, maximise
from dqa_dellma.utilities.pairs import Pairs, cut_minibatches, draw_pairs
from dqa_dellma.utilities.rankings import read_ranking
from dqa_dellma.utilities.why import explain_choice


class Dellma(ProblemDecider):
    """The DeLLMa method."""

    @property
    def own(self) -> DellmaSettings:
        """The settings of the method.

        The seed is different for each epoch (repetition) of a run.
        """
        own = self.settings.own_as(DellmaSettings)
        return own.model_copy(update={"seed": own.seed + self.settings.epoch - 1})

    def enumerate(self, problem: Problem, asking: Asking) -> NamedFactors:
        """Ask for k factors with l values each (section 3.1).

        k is the number of general factors plus the number of specific factors of all actions. The
        setting `factors` is the maximum of k. If k would exceed this maximum, the model decides how
        many factors are general and how many are specific.
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
            **task_values(problem, asking),
            actions=len(problem.actions),
            factors=wanted.factors,
            general=own.general,
            own=own.own,
            whole=whole <= own.factors,
            values=own.values,
        )

    def forecast(self, problem: Problem, factors: Factors, asking: Asking) -> Forecast:
        """Ask for the likelihood of each value of each factor, in words (section 3.2)."""
        return asking.ask(
            "forecasting",
            Forecast,
            label="state forecasting",
            read=lambda reply: read_forecast(reply, factors),
            note=False,
            **task_values(problem, asking),
            factors=factors,
            weights=[f"{words} ({weight})" for words, weight in WEIGHTS.items()],
        )

    def rank(
        self, problem: Problem, beliefs: Beliefs, pairs: Pairs, batch: Sequence[int], asking: Asking
    ) -> Ranking:
        """Ask for the ranking of a minibatch (section 3.3).

        If no reply can be used, the ranking is empty. The utilities then depend only on the other
        minibatches.
        """
        ties, whole = self.own.ties, self.own.states == "whole"
        try:
            return asking.ask(
                "elicitation",
                Ranking,
                label="utility elicitation",
                read=lambda reply: read_ranking(reply, batch, ties=ties),
                note=False,
                **task_values(problem, asking),
                beliefs=beliefs,
                ties=ties,
                whole=whole,
                items=[_item(problem, beliefs, pairs, number, whole=whole) for number in batch],
            )
        except UnparsableReplyError as error:
            shown = tuple(batch)
            return Ranking(shown=shown, items=(), omitted=len(shown), problem=str(error))

    def maximise(self, pairs: Pairs, rankings: Sequence[Ranking], actions: int) -> Maximised:
        """Find the best action (section 3.4). Raise `DataError` if the rankings give no scores."""
        return maximise(pairs, rankings, actions, self.own)

    def solve(self, problem: Problem, key: str, asking: Asking) -> Choice:
        """Take the four steps, and choose the action with the largest expected utility."""
        own, actions = self.own, problem.actions
        named = self.enumerate(problem, asking)
        asking.note("enumeration", named)
        forecast = self.forecast(problem, named.factors, asking)
        asking.note("forecasting", forecast)
        beliefs = forecast.beliefs
        rng = np.random.default_rng([own.seed, *key.encode()])
        pairs = draw_pairs(beliefs, bearing_of(beliefs, named.about, actions), own, rng)
        asking.note("pairs", pairs.found())
        # Without shared states, minibatches are not comparable. One batch must contain all items.
        size = own.batch if own.shared else len(pairs)
        rankings: list[Ranking] = []
        for batch in cut_minibatches(len(pairs), size, own.overlap):
            rankings.append(self.rank(problem, beliefs, pairs, batch, asking))
            asking.note("elicitation", rankings[-1])
        elicited = self._maximise(pairs, rankings, len(actions))
        why = explain_choice(problem, elicited)
        asking.note("utilities", elicited.found(actions, why))
        action = actions[elicited.best]
        return Choice.of(action)

    def _maximise(self, pairs: Pairs, rankings: Sequence[Ranking], actions: int) -> Maximised:
        """Find the best action. Raise `UnparsableReplyError` if the rankings give no scores."""
        if not any(len(ranking.items) > 1 for ranking in rankings):
            raise UnparsableReplyError(f"None of {len(rankings)} minibatches was ranked.")
        try:
            return self.maximise(pairs, rankings, actions)
        except (DataError, ArithmeticError, np.linalg.LinAlgError) as error:
            # This error ends the run with a trace, which contains the replies of the model.
            raise UnparsableReplyError(
                f"The utilities could not be computed from {len(rankings)} rankings: {error}"
            ) from error


def _item(
    problem: Problem, beliefs: Beliefs, pairs: Pairs, number: int, *, whole: bool
) -> dict[str, Any]:
    action = int(pairs.action_of[number])
    state = pairs.states[pairs.state_of[number]]
    return {
        "state": describe_state(beliefs, state, whole | pairs.bears(number)),
        "number": action + 1,
        "action": problem.actions[action],
    }
