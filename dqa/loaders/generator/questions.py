"""Questions about a generated world whose answers can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np

from dqa import plugins
from dqa.core.question import Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.loaders.generator.options import Difficulty
from dqa_simulators.steps import steps_to_target

__all__ = ["SMALLEST_MARGIN", "ask", "label_rules", "targets_of"]

SMALLEST_MARGIN = 1e-6
"""Least lead of an answer over the runner-up, and over doing nothing, as a share of its value."""

_LARGE = 100_000  # rows from which a world is called large
_BATCH = 64  # most questions screened at once


def label_rules(situation: Situation) -> tuple[str, ...]:
    """Return the rule sets under which a label has to be the same.

    ``paper`` and ``released``; only ``paper`` for a large world, where a simulation takes seconds
    and nobody compares with the official answers.
    """
    return ("paper",) if situation.row_count > _LARGE else ("paper", "released")


def targets_of(
    situation: Situation, year: int, distractors: int, rng: np.random.Generator
) -> list[Mapping[str, str]]:
    """List what may be asked about, in random order.

    Locating: countries whose home some route leads to and who have no merchant yet. Building:
    goods that some building makes. The last `distractors` countries or goods are left out.
    """
    if situation.schema.scenario == "locating":
        country, presence = situation["country"], situation["node_country"]
        busy = set(presence["country_name"][presence["has_merchant"]].tolist())
        reached = set(situation["flow"]["dest"].tolist())
        pairs = zip(country["country_name"].tolist(), country["home_node"].tolist(), strict=True)
        targets = [
            {"country": name, "home": home, "year": str(year)}
            for name, home in islice(pairs, len(country) - distractors)
            if name not in busy and home in reached
        ]
    else:
        goods = situation["goods"]
        made = np.isin(goods["code"], situation["supply"]["goods_id"])
        targets = [
            {"goods": name, "country": situation.name}
            for name in goods["goods_name"][made][: int(made.sum()) - distractors].tolist()
        ]
    return [targets[i] for i in rng.permutation(len(targets))]


def ask(
    situation: Situation,
    targets: list[Mapping[str, str]],
    wanted: int,
    difficulty: Difficulty,
) -> list[LabelledQuestion]:
    """Make the first `wanted` questions about `targets` that have one sure answer.

    The answer is unique, leads by at least `SMALLEST_MARGIN`, betters doing nothing by as much,
    and is the same under each of `label_rules`, so that it hangs neither on the last bit of a sum
    nor on what only one rule set counts. `difficulty` is measured under ``paper``.

    Returns
    -------
    list[LabelledQuestion]
        At most `wanted`, in the order of `targets`; their ids are still to be given.
    """
    spec = plugins.scenario(situation.schema.scenario)
    large = situation.row_count > _LARGE
    found: list[LabelledQuestion] = []
    rest = iter(targets)
    while len(found) < wanted:
        size = 1 if large else min(_BATCH, 2 * (wanted - len(found)) + 4)
        batch = [spec.question(situation, "", target) for target in islice(rest, size)]
        if not batch:
            break
        found.extend(_sure(situation, batch, difficulty))
    return found[:wanted]


def _sure(
    situation: Situation, questions: list[Question], difficulty: Difficulty
) -> list[LabelledQuestion]:
    """Keep the questions with one sure answer, each with that answer."""
    simulator = plugins.simulator(questions[0].scenario)
    sure: list[LabelledQuestion] = []
    outcomes = simulator.outcomes(situation, questions, "paper")
    for question, outcome in zip(questions, outcomes, strict=True):
        if _is_sure(outcome) and _is_within(outcome, difficulty):
            sure.append(LabelledQuestion(question, Truth((outcome.answer,))))
    for rules in label_rules(situation)[1:]:
        asked = [question for question, _ in sure]
        outcomes = simulator.outcomes(situation, asked, rules) if asked else []
        sure = [
            labelled
            for labelled, outcome in zip(sure, outcomes, strict=True)
            if _is_sure(outcome) and outcome.answer == labelled.truth.official
        ]
    if difficulty.hops > 1:
        sure = [labelled for labelled in sure if _steps(situation, labelled) >= difficulty.hops]
    return sure


def _is_sure(outcome: Outcomes) -> bool:
    best = outcome.value(outcome.answer)
    least = SMALLEST_MARGIN * abs(best)
    gain = _gain(outcome)
    return len(outcome.ties) == 1 and outcome.margin > least and gain > least


def _gain(outcome: Outcomes) -> float:
    """How much the answer betters doing nothing; negative where it worsens it."""
    more = outcome.value(outcome.answer) - outcome.baseline
    return more if outcome.goal == "maximise" else -more


def _is_within(outcome: Outcomes, difficulty: Difficulty) -> bool:
    share = outcome.margin / _gain(outcome)
    within = difficulty.min_margin <= share <= difficulty.max_margin
    change = outcome.values - outcome.baseline
    better = change if outcome.goal == "maximise" else -change
    rivals = int(np.count_nonzero(better > SMALLEST_MARGIN * abs(outcome.baseline)))
    return within and rivals >= difficulty.rivals


def _steps(situation: Situation, labelled: LabelledQuestion) -> float:
    """Count the steps from the answer to the target; no way at all counts as none."""
    question, truth = labelled
    candidates = question.candidates or ()
    steps = steps_to_target(situation, question)[candidates.index(truth.answers[0])]
    return float(steps) if np.isfinite(steps) else 0.0
