"""Thirty thousand candidates: shown in part, looked up by key, judged and bounded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import UsageError
from dqa.models.scripted.steps import Answer, Step
from dqa.testing.models import PreparedReplies, Reply, Request
from tests.large.conftest import BEST, COUNT, UNMOVED

pytestmark = pytest.mark.slow

LISTING = "SELECT sku FROM item -- every one of them"
TOP = Step("The best.", "SELECT sku, margin FROM item ORDER BY margin DESC LIMIT 3")
TRACE_BYTES = 150_000


def size_of(trace: dqa.Trace) -> int:
    """Return the length of a trace as JSON."""
    return len(json.dumps(trace.to_json()))


def test_an_agent_narrows_the_candidates_by_queries(warehouse: str) -> None:
    """The prompt has their number, their query and some names; a wrong name is corrected."""
    asked = dqa.UserQuestion(question="Which item?", candidates=LISTING)
    model = PreparedReplies([TOP, Answer("That.", "SKU-999999"), Answer("That.", f"item {BEST}")])
    trace = dqa.ask(warehouse, asked, decider="planrag", model=model)
    assert trace.choice == BEST
    task = model.requests[0].text
    assert "Choose one of 30,000, which are too many to list here." in task
    assert f"{LISTING}\nThe list begins with:\n- SKU-" in task
    assert task.count("- SKU-") == 5
    assert trace.asked is not None
    assert (trace.asked.total, len(trace.asked.alternatives)) == (COUNT, 1_001)
    assert trace.asked.alternatives[-1].candidate == BEST
    assert size_of(trace) < TRACE_BYTES


def test_a_scenario_lists_the_best_and_the_worst(
    warehouse: str, scenario: str, tmp_path: Path
) -> None:
    """With their ranks; simulations stay short."""
    every = Step("All.", "all", tool="compare")
    one = Step("One.", BEST, tool="simulate")
    model = PreparedReplies([every, one, Answer("That.", "SKU-000002")])
    asked = dqa.UserQuestion(scenario=scenario)
    trace = dqa.ask(warehouse, asked, decider="planrag-sim", model=model)
    assert trace.choice == "SKU-000002"
    assert "The list begins with:" in model.requests[0].text
    compared, simulated = trace.evidence
    assert f"of {COUNT - UNMOVED + 1:,} rows are shown" in compared.observation
    assert len(compared.observation.encode()) <= 32_000
    assert f'"{BEST}", 5000.5' in simulated.observation
    listed = trace.asked
    assert listed is not None
    assert (listed.total, len(listed.alternatives)) == (COUNT, 1_001)
    assert (listed.alternatives[0].candidate, listed.alternatives[0].rank) == (BEST, 1)
    assert listed.alternatives[-1].outcome == 0.0
    assert "SKU-000002" in [one.candidate for one in listed.alternatives]
    assert size_of(trace) < TRACE_BYTES
    page = tmp_path / "decision.html"
    dqa.write_decision_page(trace, page)
    text = page.read_text(encoding="utf-8")
    assert f"{COUNT} candidates; 1001 are shown" in text
    assert len(text) < 4 * TRACE_BYTES


def test_deciders_are_judged_on_many_candidates(warehouse: str, scenario: str) -> None:
    """Oracle, baselines, heuristics and agents, by rank and regret among all of them."""
    questions = dqa.read_questions([{"id": "a"}, {"id": "b"}], warehouse, scenario=scenario)
    first, second = questions.questions
    assert first.candidates is second.candidates  # held once
    run = dqa.evaluate(
        questions.select(limit=1),
        ["oracle", "first", "random", "item-newest", "planrag"],
        model=PreparedReplies([TOP, Answer("That.", BEST)]),
    )
    judged = {result.decider: result for result in run.results}
    assert judged["oracle"].choice == judged["planrag"].choice == BEST
    assert judged["planrag"].outcome == "correct"
    newest = judged["item-newest"]
    assert (newest.choice, newest.outcome, newest.regret) == ("SKU-030000", "wrong", 5000.5)
    assert newest.rank == COUNT - UNMOVED + 1
    assert judged["random"].outcome == judged["first"].outcome == "wrong"


def dellma(request: Request) -> Reply:
    """Decide."""
    del request
    return f'{{"decision": "{BEST}", "explanation": "x"}}'


def test_dellma_compares_the_first_rows_of_its_context(warehouse: str, scenario: str) -> None:
    """A warning names their number; without such rows the question is refused with advice."""
    trace = dqa.ask(
        warehouse,
        dqa.UserQuestion(scenario=scenario),
        decider="zero-shot",
        model=PreparedReplies(dellma),
    )
    assert trace.choice == BEST
    assert "Only 12 of 30,000 candidates were compared" in trace.warnings[0]
    assert size_of(trace) < TRACE_BYTES
    unlisted = dqa.UserQuestion(
        question="Which?", candidates=LISTING, context=("SELECT shelf FROM item LIMIT 5",)
    )
    with pytest.raises(UsageError, match="has 30,000 candidates"):
        dqa.ask(warehouse, unlisted, decider="zero-shot", model=PreparedReplies(dellma), debug=True)
