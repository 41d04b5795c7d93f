"""The agents' loop over real databases."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.decision import Decision, Ending
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.models.scripted import scripted_model
from tests.planrag.conftest import COUNT, Replies, open_question

AGENTS = ("singlerag", "iterrag", "planrag", "planrag-no-replan")


def act(database: Database, *, before: str = "") -> str:
    """A reply that counts the nodes."""
    return f"{before}Thought: count\nAction: query_database\nAction Input: {COUNT[database.kind]}"


def run(
    agent: str,
    replies: Sequence[str],
    questions: QuestionSet,
    database: Database,
    settings: Settings | None = None,
) -> tuple[Decision, Replies]:
    """Let an agent decide an open question with the given replies."""
    model = Replies(replies=list(replies))
    decider = plugins.decider(agent)(model, settings or Settings())
    return decider.decide(open_question(questions), database), model


def kinds(decision: Decision) -> list[str]:
    """What happened, in order."""
    return [event.kind for event in decision.trace]


def test_single_retrieval_reads_once_and_then_decides(
    questions: QuestionSet, database: Database
) -> None:
    """One statement, its rows with the closing prompt, and the decision."""
    decision, model = run(
        "singlerag", [act(database), "Thought: t\nFinal Answer: x"], questions, database
    )
    assert (decision.ending, decision.answer, decision.steps) == (Ending.ANSWERED, "x", 2)
    assert kinds(decision) == ["prompt", "reply", "retrieval", "reply", "answer"]
    assert decision.evidence[0].row_count == 1
    assert "cannot be read again" in model.shown[1][-1].text
    assert decision.usage.input_tokens == 20
    assert decision.usage.calls == 2


def test_a_plan_comes_first(questions: QuestionSet, database: Database) -> None:
    """A planning agent whose first reply has no plan is asked for it before anything runs."""
    replies = [act(database), act(database, before="Plan: 1. count\n"), "Final Answer: x"]
    for agent in ("planrag", "planrag-no-replan"):
        decision, model = run(agent, replies, questions, database)
        assert kinds(decision) == [
            *("prompt", "reply", "parse_failure", "reply", "plan", "retrieval", "reply", "answer")
        ]
        assert "has to open with the plan" in model.shown[1][-1].text
        assert decision.plans == ("1. count",)


def test_only_planrag_replans(questions: QuestionSet, database: Database) -> None:
    """The same replies change PlanRAG's plan and leave that of PlanRAG without re-planning."""
    replies = [
        act(database, before="Plan: 1. count\n"),
        act(database, before="Re-plan: keep\n"),
        act(database, before="Re-plan: 1. count again\n"),
        "Re-plan: keep\nThought: t\nFinal Answer: x",
    ]
    decision, _ = run("planrag", replies, questions, database)
    assert decision.plans == ("1. count", "1. count again")
    assert kinds(decision).count("replan") == 1
    decision, _ = run("planrag-no-replan", replies, questions, database)
    assert decision.plans == ("1. count",)
    assert "replan" not in kinds(decision)


def test_a_failed_statement_goes_back_to_the_model(
    questions: QuestionSet, database: Database
) -> None:
    """The error is an observation; the run goes on."""
    wrong = act(database).replace("trade_node", "nowhere").replace("Trade_node", "Nowhere")
    decision, model = run("iterrag", [wrong, "Final Answer: x"], questions, database)
    assert decision.evidence[0].error == "StatementError"
    assert "nowhere" in model.shown[1][-1].text.lower()
    assert decision.ending is Ending.ANSWERED


def test_a_writing_statement_never_runs(questions: QuestionSet, database: Database) -> None:
    """The guard refuses it, the model is told, and the data stays."""
    harm = {"relational": "DELETE FROM trade_node", "graph": "MATCH (n) DETACH DELETE n"}
    reply = f"Action: query_database\nAction Input: {harm[database.kind]}"
    decision, _ = run("iterrag", [reply, act(database), "Final Answer: x"], questions, database)
    assert decision.evidence[0].error == "RefusedStatementError"
    nodes = len(questions.situation_of(questions.find("locating/1"))["trade_node"])
    assert f"[{nodes}]" in decision.evidence[1].observation


def test_running_out_of_steps_is_its_own_ending(questions: QuestionSet, database: Database) -> None:
    """The run says so, and the limit stands in the prompt."""
    settings = Settings(max_steps=3)
    decision, model = run("iterrag", [act(database)] * 3, questions, database, settings)
    assert (decision.ending, decision.steps) == (Ending.STEP_LIMIT, 3)
    assert decision.error == "No decision within 3 replies."
    assert kinds(decision)[-1] == "step_limit"
    assert "at most 3 replies" in model.shown[0][0].text


def test_replies_that_cannot_be_read_end_as_unparsable(
    questions: QuestionSet, database: Database
) -> None:
    """After the bounded number of failures in a row, never as a wrong answer."""
    decision, _ = run("iterrag", ["hm", "", "Action: query_database"], questions, database)
    assert (decision.ending, decision.answer) == (Ending.UNPARSABLE, "")
    assert kinds(decision).count("parse_failure") == 3
    assert "gives it nothing to do" in (decision.error or "")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_failing_model_ends_as_infrastructure_with_the_trace_so_far(
    agent: str, questions: QuestionSet, database: Database
) -> None:
    """What the provider says is kept, and nothing is scored."""
    plan = "Plan: 1. count\n" if agent.startswith("planrag") else ""
    decision, _ = run(agent, [act(database, before=plan)], questions, database)
    assert decision.ending is Ending.INFRASTRUCTURE
    assert "IndexError" in (decision.error or "")
    assert len(decision.evidence) == 1


def test_a_failing_database_ends_as_infrastructure(
    questions: QuestionSet, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that goes away says nothing about the answer."""

    def gone(statement: str, limits: Limits) -> None:
        raise DatabaseUnavailableError("the server went away")

    monkeypatch.setattr(database, "query", gone)
    decision, _ = run("iterrag", [act(database)], questions, database)
    assert (decision.ending, decision.error) == (Ending.INFRASTRUCTURE, "the server went away")


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("script", ["analyst", "greedy", "random"])
def test_every_script_drives_every_agent_on_every_database(
    agent: str, script: str, questions: QuestionSet
) -> None:
    """No statement fails, every run answers with a candidate, and the databases do not differ."""
    decider = plugins.decider(agent)(scripted_model(script), Settings())
    for question in questions.questions:
        situation = questions.situation_of(question)
        choices = set()
        for name in ("sqlite", "ladybug"):
            database = plugins.backend(name).load(situation)
            decision = decider.decide(question, database)
            database.close()
            assert [e.error for e in decision.evidence if e.error] == []
            assert decision.ending is Ending.ANSWERED
            choices.add(decision.choice)
        assert len(choices) == 1 or script == "random"
        assert None not in choices
