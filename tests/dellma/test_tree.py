"""The tree of a decision holds the whole trace, and its page works offline."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path

import pytest

from dqa.core.decision import Ending
from dqa.core.errors import UsageError
from dqa.core.events import EndingEvent, ParseFailureEvent
from dqa.evaluation.traces import Trace
from dqa_dellma.tree.decision_tree import DecisionTree, has_tree
from dqa_dellma.tree.page import render_tree, write_tree
from tests.dellma.dellma_traces import SAMPLES, decided, marked, results, traced, with_result

AFTER_FACTORS = ("forecasting", "pairs", "elicitation", "utilities", "answer")


def test_the_tree_goes_from_the_decision_to_the_states() -> None:
    """The chosen action is first. Each action has its figures, its states and their places."""
    tree = DecisionTree.of(decided())
    (utilities,) = results("utilities")
    assert (tree.chosen, tree.why) == (utilities["chosen"], utilities["why"])
    values = [branch.figures.value or 0.0 for branch in tree.branches]
    assert values == sorted(values, reverse=True)
    assert tree.branches[0].action == tree.chosen
    assert tree.branches[1].action == tree.runner_up
    (forecast,) = results("forecasting")
    rankings = results("elicitation")
    for branch in tree.branches:
        assert [sample.state for sample in branch.samples] == list(range(SAMPLES))
        for sample in branch.samples:
            assert sample.utility == utilities["utilities"][sample.item]
            chances = [forecast["beliefs"][f][v]["probability"] for f, v in sample.values.items()]
            assert sample.probability == pytest.approx(prod(chances))
            places = [one.ranking for one in sample.places]
            assert places == [n for n, one in enumerate(rankings, 1) if sample.item in one["items"]]


def test_an_omitted_item_has_no_place_and_is_counted() -> None:
    def omit(ranking: dict[str, object]) -> dict[str, object]:
        items = list(ranking["items"])  # type: ignore[call-overload]
        return {**ranking, "items": items[:-1], "tied": (), "omitted": 1, "repeated": 2}

    tree = DecisionTree.of(with_result("elicitation", omit))
    count = len(results("elicitation"))
    last = {
        s.item for b in tree.branches for s in b.samples if count in [p.ranking for p in s.places]
    }
    assert len(last) == len(results("elicitation")[-1]["items"]) - 1
    assert tree.warnings == ("items omitted in rankings: 1", "items repeated in rankings: 2")


def test_steps_that_do_not_fit_each_other_are_refused() -> None:
    """A ranking of an unknown item is an error."""
    cut = with_result("pairs", lambda pairs: {**pairs, "state_of": pairs["state_of"][:-1]})
    with pytest.raises(UsageError, match="This version of DeLLMa cannot read"):
        DecisionTree.of(cut)


@pytest.mark.parametrize("decider", ["dellma-pairs", "a-plugin"])
def test_a_run_that_ended_before_its_factors_has_its_context(decider: str) -> None:
    """The steps identify DeLLMa, not the decider's name."""
    started = traced("enumeration", *AFTER_FACTORS)
    failed = [ParseFailureEvent(step=n, problem="No JSON.") for n in (1, 2)]
    ended = {"ending": Ending.UNPARSABLE, "error": "2 replies.", "choice": None, "answer": ""}
    trace = started.changed(events=(*started.events, *failed), decider=decider, **ended)
    tree = DecisionTree.of(trace)
    assert (tree.chosen, tree.factors, tree.rankings) == (None, None, ())
    assert Ending.UNPARSABLE.value in tree.why
    assert tree.why.endswith("2 replies.")
    assert tree.warnings == ("replies that could not be used: 2",)


def test_a_run_without_the_steps_of_dellma_has_no_tree() -> None:
    """The error gives the reason for an early end, or the command for other traces."""
    lost = (EndingEvent(kind="infrastructure", problem="No database."),)
    trace = traced(events=lost, error="No database.", choice=None)
    assert not has_tree(trace)
    with pytest.raises(UsageError, match=r"before it read its context.*early: No database\.$"):
        DecisionTree.of(trace)
    other = traced("prompt", "enumeration", *AFTER_FACTORS, decider="zero-shot")
    assert not has_tree(other)
    with pytest.raises(UsageError, match=r"zero-shot on sqlite has no decision tree.*dqa show"):
        DecisionTree.of(other)


def test_a_setting_of_another_version_is_named_in_one_line() -> None:
    """Attitudes to risk that no longer exist were stored, too."""
    document = json.dumps(decided().to_json())
    document = document.replace('"attitude": "mean"', '"attitude": "exponential"')
    with pytest.raises(UsageError, match=r"attitude: must be .*'exponential'") as caught:
        DecisionTree.of(Trace.from_json(json.loads(document)))
    assert "\n" not in str(caught.value)


HOSTILE = "</summary><script>alert(1)</script>'\"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}"


def test_the_page_unfolds_from_actions_to_states_and_loads_nothing() -> None:
    """It has a fold per action, state, ranking and statement, no script, and no outside link."""
    tree = DecisionTree.of(decided())
    page = render_tree(tree)
    actions, rankings = len(tree.branches), len(results("elicitation"))
    folds = actions * (1 + SAMPLES) + rankings + len(tree.statements)
    assert page.count("<details") == folds + page.count("<summary>Rules</summary>")
    assert f"<h1>Decision: {tree.chosen}</h1>" in page
    assert tree.why in page
    assert "a scripted program" in page
    assert page.count("<circle") == actions
    assert "<script" not in page
    links = set(re.findall(r"""(?:href|src|style)=["']([^"']*)""", page))
    assert all(re.fullmatch(r"#ranking-\d+", link) for link in links)
    assert {link[1:] for link in links} <= set(re.findall(r'id="([^"]+)"', page))
    assert not re.search(r"https?://|@import|url\(", page)


def test_stored_text_never_becomes_markup(tmp_path: Path) -> None:
    """Control characters are escaped."""
    file = tmp_path / "tree.html"
    write_tree(DecisionTree.of(marked(HOSTILE, question=HOSTILE, model=HOSTILE)), file)
    page = file.read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert r"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}" in page
    assert not set(page) & set("\x1b\u202e")
