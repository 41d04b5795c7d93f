"""The tree of a decision holds the whole trace."""

from __future__ import annotations

import json

import pytest

from dqa.core.decision import Ending
from dqa.core.errors import UsageError
from dqa_dellma.tree.decision_tree import DecisionTree, Place, has_tree
from tests.dellma.dellma_traces import events, make_event, refused, result_of, traced


def test_the_tree_goes_from_the_decision_to_the_states() -> None:
    """The chosen action is first; each has its figures and sampled states."""
    tree = DecisionTree.of(traced())
    assert (tree.chosen, tree.runner_up, tree.why) == (
        "fig",
        "plum",
        "fig was chosen: it is the best.",
    )
    assert [branch.action for branch in tree.branches] == ["fig", "plum", 7]
    fig = tree.branches[0]
    figures = fig.figures
    assert (figures.value, figures.interval, figures.chance_best) == (0.05, (0.025, 0.1), 0.9)
    assert [sample.state for sample in fig.samples] == list(range(8))
    wet = [sample.utility for sample in fig.samples if sample.values["rain"] == "wet"]
    assert wet == [0.06] * 4


def test_the_tree_has_beliefs_and_probabilities_of_states() -> None:
    """The probability of a state is the product of its factors'."""
    tree = DecisionTree.of(traced())
    assert tree.forecast is not None
    wet = tree.forecast.beliefs["rain"]["wet"]
    assert (wet.words, wet.probability) == ("unlikely", 0.25)
    second = tree.branches[0].samples[1]
    assert second.values == {"rain": "dry", "demand": "high"}
    assert second.probability == pytest.approx(0.375)


def test_the_tree_has_every_rank_of_an_item() -> None:
    """An omitted item has no rank and no utility."""
    tree = DecisionTree.of(traced())
    best = max(tree.branches[0].samples, key=lambda sample: sample.utility or 0.0)
    assert best.places == (Place(ranking=1, place=1, of=12),)
    left_out = [sample for sample in tree.branches[2].samples if sample.utility is None]
    assert [sample.places for sample in left_out] == [(), ()]
    assert tree.warnings == ("items omitted in rankings: 2", "items repeated in rankings: 1")


def test_steps_that_do_not_fit_each_other_are_refused() -> None:
    """A ranking of an unknown item is an error."""
    result = events()
    (pairs,) = result["pairs"]
    fewer = {name: value[:-1] for name, value in result_of(pairs).items() if name != "states"}
    result["pairs"] = [make_event("pairs", 2, {**result_of(pairs), **fewer})]
    with pytest.raises(UsageError, match="does not fit this version"):
        DecisionTree.of(traced(result))


def test_the_tree_is_json() -> None:
    tree = DecisionTree.of(traced())
    document = json.loads(json.dumps(tree.to_json()))
    assert document["statements"][0]["statement"] == "SELECT *\nFROM crop"
    assert document["utilities"]["actions"][0]["value"] == 0.05
    assert document["rankings"][1]["omitted"] == 2


def test_an_early_end_leaves_a_partial_tree() -> None:
    """It has actions, beliefs and rankings but no choice; the sentence gives the reason."""
    result = events()
    del result["utilities"]
    broken = {"ending": Ending.BUDGET, "error": "9 tokens left", "choice": None, "answer": ""}
    tree = DecisionTree.of(traced(result, **broken))
    assert tree.chosen is None
    assert tree.why.endswith("budget: 9 tokens left")
    assert [branch.action for branch in tree.branches] == ["fig", "plum", 7]
    assert (tree.utilities, tree.runner_up) == (None, None)
    assert len(tree.rankings) == 2


@pytest.mark.parametrize("decider", ["dellma-pairs", "a-plugin"])
def test_a_run_that_ended_before_its_factors_has_its_context(decider: str) -> None:
    """The steps identify DeLLMa, not the decider's name."""
    tree = DecisionTree.of(refused(decider))
    assert (tree.chosen, tree.factors, tree.rankings) == (None, None, ())
    assert tree.why.endswith("unparsable: 2 replies.")
    assert [branch.action for branch in tree.branches] == ["fig", "plum", 7]
    assert tree.warnings == ("replies that could not be used: 2",)


def test_a_run_of_dellma_that_read_nothing_has_no_tree() -> None:
    """The error gives the reason for the early end."""
    trace = traced({"infrastructure": [make_event("infrastructure", 0, {})]}, error="No database.")
    assert not has_tree(trace)
    with pytest.raises(UsageError, match=r"before it read its context.*early: No database\.$"):
        DecisionTree.of(trace)


def test_another_deciders_trace_has_no_tree() -> None:
    """The error names the command for other traces."""
    other = traced({"reply": [make_event("reply", 1, {"text": "fig"})]}, decider="zero-shot")
    assert not has_tree(other)
    with pytest.raises(UsageError, match=r"zero-shot on sqlite has no decision tree.*dqa show"):
        DecisionTree.of(other)
    assert not has_tree(refused("zero-shot", "decision"))
    assert not has_tree(refused("chain-of-thought", "summary"))
