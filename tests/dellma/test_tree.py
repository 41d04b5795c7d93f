"""The tree of a decision holds everything that its trace tells, in its place."""

from __future__ import annotations

import json

import pytest

from dqa.core.decision import Ending
from dqa.core.errors import UsageError
from dqa_dellma.tree.decision_tree import DecisionTree, Place, has_tree
from tests.dellma.dellma_traces import events, odd_events, refused, result_of, told_of, traced


def test_the_tree_goes_from_the_decision_to_the_states() -> None:
    """The chosen action first, each with its figures and the states in which it was tried."""
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


def test_beliefs_and_the_chances_of_states_are_told() -> None:
    """Words and probabilities by value; a state's is the product of its factors'."""
    tree = DecisionTree.of(traced())
    assert tree.forecast is not None
    wet = tree.forecast.beliefs["rain"]["wet"]
    assert (wet.words, wet.probability) == ("unlikely", 0.25)
    second = tree.branches[0].samples[1]
    assert second.values == {"rain": "dry", "demand": "high"}
    assert second.probability == pytest.approx(0.375)


def test_every_place_in_a_ranking_is_kept() -> None:
    """An item that a ranking left out has none there, and no utility."""
    tree = DecisionTree.of(traced())
    best = max(tree.branches[0].samples, key=lambda sample: sample.utility or 0.0)
    assert best.places == (Place(ranking=1, place=1, of=12),)
    left_out = [sample for sample in tree.branches[2].samples if sample.utility is None]
    assert [sample.places for sample in left_out] == [(), ()]
    assert tree.warnings == ("items omitted in rankings: 2", "items repeated in rankings: 1")


def test_whatever_was_not_as_asked_for_is_counted() -> None:
    """One line with the sum over all steps."""
    counts = [
        int(line.rpartition(" ")[2]) for line in DecisionTree.of(traced(odd_events())).warnings
    ]
    assert counts == [1, 2, 3, 4, 6, 8, 2, 5, 7, 2, 1]


def test_steps_that_do_not_fit_each_other_are_refused() -> None:
    """A ranking of an item that was not drawn is an error, and not a wrong tree."""
    told = events()
    (pairs,) = told["pairs"]
    fewer = {name: value[:-1] for name, value in result_of(pairs).items() if name != "states"}
    told["pairs"] = [told_of("pairs", 2, {**result_of(pairs), **fewer})]
    with pytest.raises(UsageError, match="not written by this version"):
        DecisionTree.of(traced(told))


def test_what_speaks_for_the_choice_is_worked_out_from_the_trace() -> None:
    """Values that widen the lead first, those that narrow it last."""
    first, last = DecisionTree.of(traced()).speaking
    assert (first.factor, first.value, first.states) == ("rain", "wet", 4)
    assert (first.lead, first.elsewhere) == pytest.approx((0.04, 0.02))
    assert last.value == "dry"
    assert last.lead == pytest.approx(0.02)


def test_the_tree_is_json() -> None:
    """A round through JSON loses nothing, and names the parts of a statement."""
    tree = DecisionTree.of(traced())
    document = json.loads(json.dumps(tree.to_json()))
    assert document["statements"][0]["statement"] == "SELECT *\nFROM crop"
    assert document["utilities"]["actions"][0]["value"] == 0.05
    assert document["rankings"][1]["omitted"] == 2


def test_an_early_end_leaves_what_there_was() -> None:
    """Actions, beliefs and rankings, without a choice; the sentence says what ended the run."""
    told = events()
    del told["utilities"]
    broken = {"ending": Ending.BUDGET, "error": "9 tokens left", "choice": None, "answer": ""}
    tree = DecisionTree.of(traced(told, **broken))
    assert tree.chosen is None
    assert tree.why == "Nothing was chosen; the run ended as budget: 9 tokens left"
    assert [branch.action for branch in tree.branches] == ["fig", "plum", 7]
    assert (tree.utilities, tree.runner_up, tree.speaking) == (None, None, ())
    assert len(tree.rankings) == 2


@pytest.mark.parametrize("decider", ["dellma-pairs", "a-plugin"])
def test_a_run_that_ended_before_its_factors_has_its_context(decider: str) -> None:
    """And why it ended; what was asked for tells DeLLMa, whatever the decider is called."""
    tree = DecisionTree.of(refused(decider))
    assert (tree.chosen, tree.factors, tree.rankings) == (None, None, ())
    assert tree.why == "Nothing was chosen; the run ended as unparsable: 2 replies."
    assert [branch.action for branch in tree.branches] == ["fig", "plum", 7]
    assert tree.warnings == ("replies that could not be used: 2",)


def test_a_run_of_dellma_that_read_nothing_has_no_tree() -> None:
    """The error does not ask for another decider, and says what ended it."""
    trace = traced({"infrastructure": [told_of("infrastructure", 0, {})]}, error="No database.")
    assert not has_tree(trace)
    with pytest.raises(
        UsageError, match=r"ended before it had read its context.*early: No database\.$"
    ):
        DecisionTree.of(trace)


def test_another_deciders_trace_has_no_tree() -> None:
    """The error says whose traces have one, and where to look instead."""
    other = traced({"reply": [told_of("reply", 1, {"text": "fig"})]}, decider="zero-shot")
    assert not has_tree(other)
    with pytest.raises(UsageError, match=r"zero-shot on sqlite has no decision tree.*dqa trace"):
        DecisionTree.of(other)
    assert not has_tree(refused("zero-shot", "decision"))
    assert not has_tree(refused("chain-of-thought", "summary"))
