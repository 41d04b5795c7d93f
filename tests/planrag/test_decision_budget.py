"""A budget ends a decision with the best choice so far, and the decision says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import dqa
from dqa.core.budgets import DecisionBudget
from dqa.core.decision import Ending
from dqa.core.errors import UsageError
from dqa.models.policy import CallPolicy, Clock
from dqa.models.scripted.steps import Answer, Step
from dqa.scenarios import catalogue
from dqa.testing.models import PreparedReplies, Reply, Request
from tests.scenarios.live_plants import LIVE, NORTH, make_embedded

DEAREST = Step("Look for the dearest.", 'SELECT "plant name", cost FROM plant ORDER BY cost DESC')
ENDED_BY = "budget: 1 statement"


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove registered scenarios before each test."""
    monkeypatch.setattr(catalogue, "_registered", {})


@pytest.fixture
def plants(tmp_path: Path) -> str:
    """Create the warehouse of plants."""
    return make_embedded("sqlite", tmp_path)


def ask(
    plants: str,
    replies: Sequence[Reply],
    budget: DecisionBudget,
    decider: str = "planrag",
    **more: object,
) -> tuple[dqa.Trace, PreparedReplies]:
    """Ask which plant of the north to close."""
    model = PreparedReplies(replies)
    asked = dqa.UserQuestion(scenario=str(LIVE / "close-plant"), target=NORTH)
    trace = dqa.ask(plants, asked, decider=decider, model=model, budget=budget, **more)  # type: ignore[arg-type]
    return trace, model


@pytest.mark.parametrize("decider", ["planrag", "planrag-sim", "iterrag"])
@pytest.mark.parametrize("protocol", ["react", "tools"])
def test_the_agent_is_asked_once_for_its_best(plants: str, decider: str, protocol: str) -> None:
    """The last request offers only to decide, and the decision is marked."""
    trace, model = ask(
        plants,
        [DEAREST, Answer("The dearest.", "O'Hare")],
        DecisionBudget(statements=1),
        decider,
        protocol=protocol,
    )
    assert (trace.ending, trace.choice, trace.ended_by) == (Ending.ANSWERED, "O'Hare", ENDED_BY)
    assert len(trace.evidence) == 1
    last = model.requests[-1]
    assert "The budget of this decision is spent (1 statement)" in last.last
    assert last.tools in ((), ("decide",))
    assert [e.kind for e in trace.events].count("budget_spent") == 1
    assert "budget" in dqa.Trace.from_json(trace.to_json()).ended_by  # type: ignore[operator]


def test_the_last_named_candidate_counts_if_the_agent_does_not_decide(plants: str) -> None:
    """Its requests are not carried out; a text that names two candidates or none does not count."""
    stated = Step("So far it is Åre.", "SELECT 1")
    trace, _ = ask(plants, [stated, DEAREST], DecisionBudget(statements=1))
    assert (trace.ending, trace.choice, trace.ended_by) == (Ending.ANSWERED, "Åre", ENDED_BY)
    assert len(trace.evidence) == 1


def test_without_a_named_candidate_there_is_no_decision(plants: str) -> None:
    """It is judged as no decision, and not asked again."""
    trace, _ = ask(plants, [DEAREST, DEAREST], DecisionBudget(statements=1))
    assert (trace.ending, trace.choice, trace.ended_by) == (Ending.NO_DECISION, None, ENDED_BY)
    assert "budget of 1 statement" in (trace.error or "")


@pytest.mark.parametrize(
    ("budget", "ended_by"),
    [
        (DecisionBudget(rows=2), "budget: 2 rows"),
        (DecisionBudget(tokens=1_400), "budget: 1,400 tokens"),
        (
            DecisionBudget(cost=0.0014, price_input=1.0, price_output=1.0),
            "budget: a cost of 0.0014",
        ),
    ],
)
def test_rows_tokens_and_money_end_a_run(
    plants: str, budget: DecisionBudget, ended_by: str
) -> None:
    """The run ends before a step would exceed the budget; missing counts are estimated."""
    trace, _ = ask(plants, [DEAREST, Answer("The dearest.", "York")], budget)
    assert (trace.choice, trace.ended_by) == ("York", ended_by)


def test_time_ends_a_run(plants: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By this clock a step takes ten seconds, so two more exceed twenty-five."""
    ticks = [0.0]

    def tick(request: object) -> Reply:
        del request
        ticks[0] += 10.0
        return Answer("Now.", "York") if ticks[0] > 15 else DEAREST

    clock = Clock(monotonic=lambda: ticks[0])
    monkeypatch.setattr(
        "dqa.evaluation.options.CallOptions.policy", lambda *_: CallPolicy(clock=clock)
    )
    asked = dqa.UserQuestion(scenario=str(LIVE / "close-plant"), target=NORTH)
    budget = DecisionBudget(seconds=25)
    trace = dqa.ask(plants, asked, decider="iterrag", model=PreparedReplies(tick), budget=budget)
    assert (trace.choice, trace.ended_by) == ("York", "budget: 25 seconds")


def dellma(request: Request) -> Reply:
    """Name a factor, or decide if the prompt asks for a decision."""
    if '"decision"' in request.text:
        return '{"decision": "Åre", "explanation": "x"}'
    return '{"factors": [{"name": "demand", "actions": "all", "values": ["low", "high"]}]}'


def test_dellma_decides_at_once_if_its_budget_is_spent(plants: str) -> None:
    """One reply decides on the rows so far. If even that is too expensive, there is no decision."""
    question = dqa.UserQuestion(scenario=str(LIVE / "close-plant"), target=NORTH)
    for tokens, choice, ending in ((600, "Åre", "answered"), (400, None, "no_decision")):
        trace = dqa.ask(
            *(plants, question),
            decider="dellma-pairs",
            model=PreparedReplies(dellma),
            budget=DecisionBudget(tokens=tokens),
        )
        assert (trace.choice, trace.ending) == (choice, ending)
        assert trace.ended_by == f"budget: {tokens} tokens"


def test_runs_count_decisions_that_a_budget_ended(plants: str, tmp_path: Path) -> None:
    """In results and summaries; a resumed run asks none again."""
    questions = dqa.read_questions([{"target": NORTH}], plants, scenario=LIVE / "close-plant")
    run = dqa.evaluate(
        questions,
        ["planrag", "iterrag"],
        model=PreparedReplies([DEAREST, Answer("x", "York"), DEAREST, DEAREST]),
        budget=DecisionBudget(statements=1),
        out=tmp_path / "run",
        options=dqa.RunOptions(workers=1),
    )
    judged = {result.decider: result for result in run.results}
    assert (judged["planrag"].outcome, judged["planrag"].ended_by) == ("wrong", ENDED_BY)
    assert (judged["iterrag"].outcome, judged["iterrag"].ended_by) == ("no_decision", ENDED_BY)
    assert [(s.ended_by_budget, s.no_decision, s.judged) for s in run.summaries] == [
        (1, 0, 1),
        (1, 1, 1),
    ]
    assert run.how_to_resume() is None


def test_a_budget_of_nothing_and_money_without_prices_are_refused(plants: str) -> None:
    with pytest.raises(UsageError, match=r"budget: statements \(--max-statements\) must be more"):
        DecisionBudget(statements=0)
    with pytest.raises(UsageError, match=r"seconds \(--max-seconds\) must be more than 0, not nan"):
        DecisionBudget(seconds=float("nan"))
    with pytest.raises(UsageError, match="--max-cost"):
        ask(plants, [], DecisionBudget(cost=1.0))
