"""DeLLMa: enumerate, forecast, elicit, maximise (sections 3.1 to 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dqa.deciders.actions import Chosen
from dqa.models.conversation import Conversation
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import Finding
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.steps.elicitation import AskedRanking, Ranker
from dqa_dellma.steps.enumeration import AskedEnumeration, StateEnumeration
from dqa_dellma.steps.forecasting import AskedForecast, StateForecast
from dqa_dellma.steps.sampling import Maximisation, UtilityElicitation
from dqa_dellma.utilities.beliefs import bearing_of
from dqa_dellma.utilities.maximisation import maximise
from dqa_dellma.utilities.why import explain_choice


@dataclass(frozen=True, slots=True)
class Steps:
    """The four steps of DeLLMa; each can be replaced by anything of its protocol.

    They return what they found, and `Dellma` records it: a decision has its tree whoever took its
    steps.

    Attributes
    ----------
    enumeration
        A problem to its latent factors (section 3.1).
    forecast
        Factors to beliefs (section 3.2).
    ranker
        A minibatch of state-action pairs to its ranking (section 3.3).
    maximisation
        Rankings to the best action (section 3.4).
    """

    enumeration: StateEnumeration
    forecast: StateForecast
    ranker: Ranker
    maximisation: Maximisation = maximise

    @classmethod
    def asked(cls, settings: DellmaSettings) -> Self:
        """Return the paper's: the first three ask the model, and the fourth is arithmetic."""
        enumeration = AskedEnumeration(
            settings.general, settings.own, settings.factors, settings.values
        )
        return cls(enumeration, AskedForecast(), AskedRanking(settings.ties))


class Dellma:
    """The method; see `dqa_dellma.steps.choosing.Chooser`.

    Parameters
    ----------
    settings
        What it does.
    steps
        The four steps; None for the paper's.
    """

    def __init__(self, settings: DellmaSettings, steps: Steps | None = None) -> None:
        self._settings = settings
        self._steps = steps or Steps.asked(settings)

    def choose(self, problem: Problem, key: str, conversation: Conversation) -> Chosen:
        """Take the four steps, and choose the action of the largest expected utility."""
        steps, recorder = self._steps, conversation.recorder

        def note(finding: Finding) -> None:
            recorder.note(finding.at(recorder.steps))

        enumerated = steps.enumeration.enumerate(problem, conversation)
        note(enumerated)
        forecast = steps.forecast.forecast(problem, enumerated.factors, conversation)
        note(forecast)
        elicitation = UtilityElicitation(steps.ranker, self._settings, steps.maximisation)
        rng = np.random.default_rng([self._settings.seed, *key.encode()])
        bearing = bearing_of(forecast.beliefs, enumerated.about, problem.actions)
        elicited = elicitation.elicit(problem, forecast.beliefs, conversation, rng, bearing)
        why = explain_choice(problem, forecast.beliefs, elicited)
        note(elicited.to_event(problem.actions, why))
        action = problem.actions[elicited.best]
        return Chosen(str(action), action)
