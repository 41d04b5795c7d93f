"""Pictures as data: what draws a question, how it is laid out, and what a page keeps of it."""

from __future__ import annotations

import pytest

import dqa
from dqa import plugins
from dqa.core.pictures import Picture, PictureEdge, PictureNode
from dqa.report.run_report.page import laid_out, truth_of


def _picture(edges: list[tuple[str, str]], layers: dict[str, int]) -> Picture:
    return Picture(
        title="of a test",
        nodes=tuple(PictureNode(id=one, label=one, layer=layer) for one, layer in layers.items()),
        edges=tuple(PictureEdge(source=source, target=target) for source, target in edges),
    )


def test_edges_that_need_not_cross_do_not() -> None:
    """Nodes stand beside their neighbours, however they were listed."""
    layers = {"a": 0, "b": 0, "c": 0, "x": 1, "y": 1, "z": 1}
    drawn = laid_out(_picture([("a", "z"), ("b", "y"), ("c", "x")], layers))
    order = [node.id for node in drawn.nodes]
    assert [order[:3].index(one) for one in "abc"] == [order[3:].index(one) for one in "zyx"]
    assert laid_out(drawn) == drawn


@pytest.mark.parametrize("scenario", ["locating", "building"])
def test_the_picture_of_a_question_has_the_best_and_the_chosen_candidates(scenario: str) -> None:
    """With what each leads to, as the simulator counts it."""
    asked = dqa.generate(count=2, seed=4, scenarios=[scenario])
    for question in asked.questions:
        situation = asked.situations[question.situation]
        (outcomes,) = plugins.simulator(scenario).outcomes(situation, [question])
        worst = outcomes.best_first()[-1]
        truth = truth_of(question, outcomes, situation, [worst, outcomes.answer])
        assert truth.picture is not None
        drawn = {node.candidate: node for node in truth.picture.nodes if node.candidate is not None}
        for candidate in (outcomes.answer, worst):
            if candidate in drawn:
                assert drawn[candidate].value == outcomes.value(candidate)
        assert outcomes.answer in drawn
        assert [node.focus for node in truth.picture.nodes].count(True) == 1
        assert len(truth.picture.nodes) <= 60
        assert {row.candidate for row in truth.outcomes} >= {worst, outcomes.answer}
        assert truth.outcomes[0].value == outcomes.best
        assert truth.total == len(outcomes.candidates)
