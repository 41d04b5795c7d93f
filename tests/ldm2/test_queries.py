"""Questions that are decided by asking their database in steps, as was done before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

import dqa
from dqa.api.runs import Run
from dqa.core.decision import Ending
from dqa.core.events import PromptEvent, WarningEvent
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.base import Settings
from dqa.evaluation.results import Outcome
from dqa.models.scripted import ProgramModel, scripted_model
from dqa_ldm2.events import ImitationEvent, RecallEvent
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.memories import OpenedMemory
from dqa_ldm2.memory.base import Memory
from dqa_ldm2.memory.building import form_memory
from dqa_ldm2.memory.opening import open_memory
from dqa_ldm2.memory.rules import RuleIndexer
from dqa_ldm2.queries.actions import (
    answer_of,
    beginning,
    decide_action,
    query_action,
    seen,
    statement_of,
)
from dqa_ldm2.queries.building import build_from_runs, refine_on_questions
from dqa_ldm2.queries.deciders import QueriesDecider
from dqa_ldm2.queries.settings import QueriesSettings
from dqa_ldm2.queries.trajectories import trajectories_of
from dqa_ldm2.retrieving import own_sources
from dqa_ldm2.situation import Situation

PLANTED = "SELECT 'planted in the memory' AS name"


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    """A few questions on generated data."""
    return dqa.generate(["building"], count=4, seed=21, per_database=4)


@pytest.fixture(scope="module")
def run(questions: QuestionSet, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of agents that remember nothing."""
    out = tmp_path_factory.mktemp("runs") / "first"
    return dqa.evaluate(
        questions,
        ["ldm2-queries-bare", "planrag", "first"],
        model="scripted:analyst",
        databases=["sqlite"],
        out=out,
    )


def remember(memory: Memory, *trajectories: Trajectory) -> None:
    """Form a batch of trajectories."""
    form_memory(memory, trajectories, RuleIndexer(), source="test")


def trajectory(
    question: Question, source: str, statement: str = PLANTED, word: str = "planted"
) -> Trajectory:
    """Return one of a statement and a decision."""
    steps = (
        Step(beginning("relational"), query_action(statement)),
        Step(seen(f'["name"]\n["{word}"]', "relational"), decide_action(word)),
    )
    return Trajectory(question.text, steps, source, 1.0)


def decider(memory: str, model: ProgramModel | None = None, **own: object) -> QueriesDecider:
    """Return the decider with a memory."""
    settings = QueriesSettings.model_validate({"memory": memory, **own})
    return QueriesDecider(
        "ldm2-queries",
        model or scripted_model("analyst"),
        Settings(max_steps=8),
        settings,
        OpenedMemory(memory),
    )


def test_trajectories_are_what_agents_asked_and_decided(run: Run, questions: QuestionSet) -> None:
    """Of every agent, right ones; the others are counted by why they are left out."""
    found = trajectories_of(run, questions)
    right = [r for r in run.results if r.outcome is Outcome.CORRECT]
    asking = [r for r in right if r.statements]
    assert len(found.trajectories) == len(asking)
    assert {word for one in found.trajectories for word in one.source.split()} >= {"planrag"}
    for one in found.trajectories:
        assert one.reward == 1.0
        assert one.steps[0].observation == "SQL: nothing was asked yet."
        assert all(statement_of(step.action) for step in one.steps[:-1])
        assert answer_of(one.steps[-1].action)
        assert one.goal in {question.text for question in questions.questions}
    left = sum(found.skipped.values())
    assert left + len(found.trajectories) == len(run.results)
    wrong = sum(r.outcome is Outcome.WRONG and r.statements > 0 for r in run.results)
    everything = trajectories_of(run, questions, keep_all=True)
    assert len(everything.trajectories) == len(asking) + wrong
    assert sum(one.reward == 0.0 for one in everything.trajectories) == wrong


def test_the_trace_says_which_step_an_action_comes_from(
    memory: Memory, questions: QuestionSet
) -> None:
    """What others asked is asked here, with the names of this question."""
    first, second = questions.questions[:2]
    goods = first.target["goods"]
    statement = (
        "SELECT s.building_id FROM supply s JOIN goods g ON g.code = s.goods_id "
        f"WHERE g.goods_name = '{goods}' ORDER BY s.max_supply DESC LIMIT 1"
    )
    source = QuestionIdentity.of(first).source("last year", first.key)
    remember(memory, trajectory(first, source, statement))
    with dqa.temporary_database(questions.situation_of(second)) as database:
        decision = decider(memory.location).decide(second, database)
    assert decision.ending is Ending.ANSWERED
    assert [one.statement for one in decision.evidence] == [
        statement.replace(goods, second.target["goods"])
    ]
    told = [event for event in decision.trace if isinstance(event, RecallEvent)]
    assert [one.source for one in told[0].tuples] == [source, source][: len(told[0].tuples)]
    acted = [event for event in decision.trace if isinstance(event, ImitationEvent)]
    assert acted[0].source == source
    assert str(decision.choice) == decision.evidence[0].rows[0][0] or decision.choice is not None


@pytest.mark.parametrize("called", ["identity", "other id", "custom", "by nobody we know"])
def test_nothing_of_the_very_question_reaches_a_prompt(
    memory: Memory, questions: QuestionSet, called: str
) -> None:
    """Its right trajectory lies in the memory under another run's name and another id."""
    asked, other = questions.questions[:2]
    disguised = {
        "identity": asked,
        "other id": replace(asked, id="901", text="In words of somebody else?"),
        "custom": replace(asked, scenario="custom", id="1", target={}),
        "by nobody we know": asked,
    }[called]
    source = QuestionIdentity.of(disguised).source("another run", disguised.key)
    if called == "by nobody we know":
        source = "a colleague's notes 4"
    planted = trajectory(disguised, source)
    remember(memory, planted, trajectory(other, "elsewhere 1", "SELECT id FROM building", "usual"))
    here = Situation(asked.text, "", (), identity=QuestionIdentity.of(asked))
    assert own_sources(memory, here) == {source}
    with dqa.temporary_database(questions.situation_of(asked)) as database:
        decision = decider(memory.location).decide(asked, database)
        shown = decider(memory.location, same_question=True).decide(asked, database)
    assert "planted" not in told_to_models(decision.trace)
    assert "SELECT id FROM building" in told_to_models(decision.trace)
    assert "planted" in told_to_models(shown.trace)  # where it may be, it is found
    for made, is_warned in ((decision, False), (shown, True)):
        warned = [event.text for event in made.trace if isinstance(event, WarningEvent)]
        assert any("of the very question" in text for text in warned) == is_warned


def test_a_run_on_the_questions_of_its_memory_shows_none_of_their_own(
    run: Run, questions: QuestionSet, tmp_path: Path
) -> None:
    """Through ``dqa eval``: what each prompt shows comes from other questions alone."""
    place = tmp_path / "memory.db"
    with open_memory(place, create=True) as made:
        build_from_runs(made, [run], RuleIndexer(), questions=questions)
        tuples = list(made.tuples())
    asked = dqa.evaluate(
        questions,
        ["ldm2-queries"],
        model="scripted:analyst",
        databases=["sqlite"],
        settings={"ldm2.memory": str(place)},
        out=tmp_path / "run",
    )
    left_out = 0
    for trace in asked.traces:
        question = questions.find(trace.question)
        identity = QuestionIdentity.of(question)
        own = {
            t.id
            for t in tuples
            if identity.is_same(QuestionIdentity.in_source(t.placed.content.source))
        }
        shown = {t.id for e in trace.events if isinstance(e, RecallEvent) for t in e.tuples}
        assert shown
        assert not shown & own
        left_out += len(own)
        prompts = [e for e in trace.events if isinstance(e, PromptEvent)]
        # Its own goal, and no example's.
        assert all(text_count(event, question.text) <= 1 for event in prompts)
    assert left_out


def text_count(event: PromptEvent, text: str) -> int:
    """Return how often a prompt has a text."""
    return sum(message.count(text) for _, message in event.messages)


def told_to_models(trace: tuple[object, ...]) -> str:
    """Return all that models were told."""
    prompts = [event for event in trace if isinstance(event, PromptEvent)]
    return "\n".join(text for event in prompts for _, text in event.messages)


class Saying(ProgramModel):
    """Says one thing after another."""

    replies: list[str]

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        del tools
        if "# Task: index" in messages[0].text:
            return AIMessage('{"type": 1}')
        return AIMessage(self.replies.pop(0) if len(self.replies) > 1 else self.replies[0])


def acting(*actions: str) -> Saying:
    """Return a model that takes actions."""
    return Saying(replies=[json.dumps({"action": action}) for action in actions])


def test_errors_and_refused_decisions_go_back_to_the_model(
    memory: Memory, questions: QuestionSet
) -> None:
    """A statement that fails is evidence; a name that is none is said, and asked again."""
    asked, other = questions.questions[:2]
    remember(memory, trajectory(other, "elsewhere 1"))
    best = str((asked.candidates or ())[0])
    model = acting(
        "query[SELECT nothing]", "query[DROP TABLE goods]", "decide[nobody]", f"decide[{best}]"
    )
    with dqa.temporary_database(questions.situation_of(asked)) as database:
        decision = decider(memory.location, model).decide(asked, database)
    assert [one.error for one in decision.evidence] == [
        "UnknownReferenceError"
        if decision.evidence[0].error == "UnknownReferenceError"
        else "StatementError",
        "RefusedStatementError",
    ]
    assert str(decision.choice) == best
    assert "Error: 'nobody' names no building id" in told_to_models(decision.trace)


def test_a_process_ends_by_its_bounds(memory: Memory, questions: QuestionSet) -> None:
    """Replies run out, or decisions that name nothing; statements run out, and it has to decide."""
    asked, other = questions.questions[:2]
    remember(memory, trajectory(other, "elsewhere 1"))
    with dqa.temporary_database(questions.situation_of(asked)) as database:
        place = memory.location
        endless = decider(place, acting("query[SELECT 1]")).decide(asked, database)
        lost = decider(place, acting("decide[nobody]")).decide(asked, database)
        full = decider(place, acting("query[SELECT 1]"), statements=2).decide(asked, database)
    assert endless.ending is Ending.STEP_LIMIT
    assert lost.ending is Ending.UNPARSABLE
    assert full.ending is Ending.UNPARSABLE
    assert len(full.evidence) == 2


def test_refining_adds_what_was_better_and_says_no_reward(
    questions: QuestionSet, memory: Memory
) -> None:
    """Other statements are tried, judged, and added from the key step on, each as a version."""
    asked = questions.questions[0]
    worse = (
        "SELECT s.building_id FROM supply s JOIN goods g ON g.code = s.goods_id "
        f"WHERE g.goods_name = '{asked.target['goods']}' ORDER BY s.max_supply, s.building_id"
    )
    remember(memory, trajectory(asked, "elsewhere 1", worse))
    before = len(memory.versions())
    others = dqa.generate(["building"], count=4, seed=22, per_database=4)
    report = refine_on_questions(memory, others, scripted_model("analyst"))
    assert report.improved
    assert len(memory.versions()) - before >= report.improved
    assert {version.origin.making for version in memory.versions()[before:]} == {"refinement"}
    assert all((goal.best_reward or 0) >= (goal.ground_reward or 0) for goal in report.goals)
    added = [one for one in memory.tuples() if one.version > before]
    assert all(QuestionIdentity.in_source(one.placed.content.source) for one in added)
    assert {one.placed.content.reward for one in added} == {0.0, 1.0}  # what was wrong is counted
    with dqa.temporary_database(others.situation_of(others.questions[0])) as database:
        decision = decider(memory.location).decide(asked, database)
    wrong = {one.id for one in added if one.placed.content.reward == 0.0}
    recalled = [event for event in decision.trace if isinstance(event, RecallEvent)]
    assert not wrong & {one.id for event in recalled for one in event.tuples}  # and never shown
    assert "eward" not in told_to_models(decision.trace)
