"""The tree of a decision holds everything that its trace tells, in its place."""

from __future__ import annotations

import json

import pytest

from dqa.core.decision import Ending
from dqa.core.errors import UsageError
from dqa.evaluation.traces import Trace
from dqa_dellma.tree.decision_tree import (
    DecisionTree,
    JudgedValue,
    RankedPlace,
)
from dqa_dellma.tree.reading import has_tree, read_tree
from tests.dellma.dellma_traces import (
    by_posterior,
    events,
    of_earlier_version,
    refused,
    told_of,
    traced,
)


def test_the_tree_goes_from_the_decision_to_the_states() -> None:
    """The chosen action first, each with its figures and the states in which it was tried."""
    tree = read_tree(traced())
    assert (tree.chosen, tree.runner_up, tree.why) == (
        "fig",
        "plum",
        "fig was chosen: it is the best.",
    )
    assert [action.action for action in tree.actions] == ["fig", "plum", 7]
    fig = tree.actions[0]
    assert (fig.value, fig.interval, fig.chance_best) == (0.05, (0.025, 0.1), 0.9)
    assert [sample.state for sample in fig.samples] == list(range(8))
    assert tree.level == 0.9
    assert tree.method is not None
    assert tree.method.attitude == "mean"


def test_beliefs_and_the_chances_of_states_are_told() -> None:
    """Words and probabilities by value; a state's is the product of its factors'."""
    tree = read_tree(traced())
    assert tree.factors[0].name == "rain"
    assert tree.factors[0].values[1] == JudgedValue(name="wet", words="unlikely", probability=0.25)
    assert tree.states[1].values == ("dry", "high")
    assert tree.states[1].probability == pytest.approx(0.375)


def test_states_of_several_draws_are_numbered_on() -> None:
    """The second draw's items point at its own states."""
    tree = read_tree(traced())
    assert len(tree.states) == 8
    wet = [s for s in tree.actions[0].samples if tree.states[s.state].values[0] == "wet"]
    assert [sample.utility for sample in wet] == [0.06] * 4


def test_every_place_in_a_ranking_is_kept() -> None:
    """An item that a ranking left out has none there, and no utility."""
    tree = read_tree(traced())
    best = max(tree.actions[0].samples, key=lambda sample: sample.utility or 0.0)
    assert best.places == (RankedPlace(ranking=1, place=1, of=12),)
    left_out = [sample for sample in tree.actions[2].samples if sample.utility is None]
    assert [sample.places for sample in left_out] == [(), ()]
    assert {name: count for name, count in tree.defects.items() if count} == {
        "omitted": 2,
        "repeated": 1,
    }


def test_a_decision_by_the_old_posterior_is_read_without_its_chances() -> None:
    """Its estimates decided and order the actions; its chances were too certain."""
    tree = read_tree(traced(by_posterior()))
    assert (tree.chosen, tree.runner_up) == ("plum", 7)
    figures = [(one.action, one.value, one.interval, one.chance_best) for one in tree.actions]
    assert figures == [
        ("plum", 0.03, None, None),
        (7, 0.025, None, None),
        ("fig", 0.02, None, None),
    ]


def test_what_speaks_for_the_choice_is_worked_out_from_the_trace() -> None:
    """Values that widen the lead first, those that narrow it last."""
    first, last = read_tree(traced()).speaking
    assert (first.factor, first.value, first.states) == ("rain", "wet", 4)
    assert (first.lead, first.elsewhere) == pytest.approx((0.04, 0.02))
    assert last.value == "dry"
    assert last.lead == pytest.approx(0.02)


def test_the_tree_is_json() -> None:
    """A round through JSON loses nothing, and names the parts of a statement."""
    tree = read_tree(traced())
    document = json.loads(json.dumps(tree.to_json()))
    assert document["context"]["statements"][0]["statement"] == "SELECT *\nFROM crop"
    assert document["actions"][0]["samples"][1] == {
        "item": 3,
        "state": 1,
        "utility": 0.04,
        "places": [{"ranking": 1, "place": 3 + 1, "of": 12}],
    }
    assert document["defects"]["omitted"] == 2


@pytest.mark.parametrize("trace", [traced(), refused(), refused(purpose="summary")])
def test_the_json_is_the_tree(trace: Trace) -> None:
    """Of a decision, and of runs that ended early: whoever reads it misses nothing."""
    tree = read_tree(trace)
    document = json.loads(json.dumps(tree.to_json()))
    assert document.keys() == {*DecisionTree.model_fields, "warnings"}
    assert len(document["rankings"]) == len(tree.rankings)
    assert all(ranking.keys() >= {"step", "shown", "items"} for ranking in document["rankings"])


def test_an_early_end_leaves_what_there_was() -> None:
    """Actions, beliefs and rankings, without a choice; the sentence says what ended the run."""
    told = events()
    del told["utilities"]
    broken = {"ending": Ending.BUDGET, "error": "9 tokens left", "choice": None, "answer": ""}
    tree = read_tree(traced(told, **broken))
    assert tree.chosen is None
    assert tree.why == "Nothing was chosen; the run ended as budget: 9 tokens left"
    assert [action.action for action in tree.actions] == ["fig", "plum", 7]
    assert (tree.level, tree.runner_up, tree.speaking) == (None, None, ())
    assert len(tree.rankings) == 2


@pytest.mark.parametrize("decider", ["dellma-pairs", "a-plugin"])
def test_a_run_that_ended_before_its_factors_has_its_context(decider: str) -> None:
    """And why it ended; what was asked for tells DeLLMa, whatever the decider is called."""
    tree = read_tree(refused(decider))
    assert (tree.chosen, tree.factors, tree.rankings) == (None, (), ())
    assert tree.why == "Nothing was chosen; the run ended as unparsable: 2 replies."
    assert [action.action for action in tree.actions] == ["fig", "plum", 7]
    assert tree.context.text == "rows"
    assert tree.warnings == ("replies that named no factor: 2",)


def test_a_run_of_dellma_that_read_nothing_has_no_tree() -> None:
    """The error does not ask for another decider, and says what ended it."""
    trace = traced({"infrastructure": [told_of("infrastructure", 0, {})]}, error="No database.")
    assert not has_tree(trace)
    with pytest.raises(UsageError, match=r"not come as far as its context.*early: No database\.$"):
        read_tree(trace)


def test_another_deciders_trace_has_no_tree() -> None:
    """The error says whose traces have one, and where to look instead."""
    other = traced({"reply": [told_of("reply", 1, {"text": "fig"})]}, decider="zero-shot")
    assert not has_tree(other)
    with pytest.raises(UsageError, match=r"zero-shot on sqlite has no decision tree.*dqa trace"):
        read_tree(other)
    assert not has_tree(refused("zero-shot", "decision"))
    assert not has_tree(refused("chain-of-thought", "summary"))


def test_the_trace_of_an_earlier_version_has_the_same_tree() -> None:
    """Versions up to 0.4 wrote an event of its own kind for each step."""
    told = {kind: [of_earlier_version(one) for one in some] for kind, some in events().items()}
    assert read_tree(traced(told)) == read_tree(traced())
