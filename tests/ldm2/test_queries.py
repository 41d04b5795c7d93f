"""Questions that are decided by asking their database in steps, as was done before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dqa
from dqa.api.runs import Run
from dqa.cli.main import app
from dqa.core.decision import Ending
from dqa.core.events import BudgetEvent, ReviewEvent, WarningEvent
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.base import Settings
from dqa.evaluation.results import Outcome
from dqa.evaluation.traces import AskedRecord, Trace
from dqa.models.scripted import ProgramModel
from dqa_ldm2 import (
    Imitation,
    Indexer,
    Memory,
    ModelUse,
    Recall,
    Situation,
    form_from_runs,
    form_memory,
    gather,
    open_memory,
    refine_on_questions,
    trajectories_of,
)
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.queries.decider import (
    BareQueriesDecider,
    QueriesDecider,
    answer_of,
    beginning,
    decide_action,
    find_proven,
    query_action,
    seen,
    statement_of,
)
from dqa_ldm2.retrieval import own_sources
from dqa_ldm2.settings import QueriesSettings
from tests.ldm2.memory_contract import REFINED, form, placed, state
from tests.ldm2.playing import canned, found, prompts

PLANTED = "SELECT 'planted in the memory' AS name"


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    """Return a few questions on generated data."""
    return dqa.generate(["building"], count=4, seed=21, per_database=4)


@pytest.fixture(scope="module")
def run(questions: QuestionSet, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of agents without a memory."""
    out = tmp_path_factory.mktemp("runs") / "first"
    return dqa.evaluate(
        questions, ["planrag", "first"], model="scripted:analyst", databases=["sqlite"], out=out
    )


def trajectory(
    question: Question, source: str, statement: str = PLANTED, word: str = "planted"
) -> Trajectory:
    """Return a trajectory of a statement and a decision."""
    steps = (
        Step(beginning("relational"), query_action(statement)),
        Step(seen(f'["name"]\n["{word}"]', "relational"), decide_action(word)),
    )
    return Trajectory(question.text, steps, source, 1.0)


def decider(memory: Memory, model: ProgramModel | None = None, **own: Any) -> QueriesDecider:
    """Return the decider with a memory."""
    settings = Settings(max_steps=8, own=QueriesSettings(**own))
    return QueriesDecider("ldm2-queries", model or canned(), settings, memory)


def acting(*actions: str) -> ProgramModel:
    """Return a model that takes actions, the last one again and again."""
    left = list(actions)

    def act(values: Mapping[str, Any]) -> object:
        del values
        return {"action": left.pop(0) if len(left) > 1 else left[0]}

    return canned(action=act)


def test_trajectories_are_what_agents_asked_and_decided(run: Run, questions: QuestionSet) -> None:
    """Of every agent, right ones; the others are counted by why they are left out."""
    made = trajectories_of(run, questions)
    right = [r for r in run.results if r.outcome is Outcome.CORRECT]
    asking = [r for r in right if r.statements]
    assert asking
    assert len(made.trajectories) == len(asking)
    for one in made.trajectories:
        assert "by planrag on sqlite" in one.source
        assert one.reward == 1.0
        assert one.steps[0].observation == "SQL: nothing was asked yet."
        assert all(statement_of(step.action) for step in one.steps[:-1])
        assert answer_of(one.steps[-1].action)
        assert one.goal in {question.text for question in questions.questions}
    assert sum(made.skipped.values()) + len(made.trajectories) == len(run.results)
    wrong = sum(r.outcome is Outcome.WRONG and r.statements > 0 for r in run.results)
    everything = trajectories_of(run, questions, keep_all=True)
    assert len(everything.trajectories) == len(asking) + wrong


def test_the_trace_says_from_which_step_an_action_comes(
    memory: Memory, questions: QuestionSet
) -> None:
    """What was asked elsewhere is asked here; the prompt has the schema, and what it may do."""
    first, second = questions.questions[:2]
    statement = "SELECT building_id FROM supply ORDER BY max_supply DESC LIMIT 1"
    source = QuestionIdentity.of(first).source("last year", first.key)
    form(memory, [trajectory(first, source, statement)])
    best = str((second.candidates or ())[0])
    model = acting(query_action(statement), decide_action(best))
    with dqa.temporary_database(questions.situation_of(second)) as database:
        decision = decider(memory, model).decide(second, database)
    assert (decision.ending, str(decision.choice)) == (Ending.ANSWERED, best)
    assert [one.statement for one in decision.evidence] == [statement]
    recalls = found(decision.trace, Recall, "recall")
    assert {one.source for recall in recalls for one in recall.tuples} == {source}
    (first_act, _) = found(decision.trace, Imitation, "imitation")
    assert (first_act.source, first_act.is_same) == (source, True)
    assert "max_supply" in prompts(decision.trace)[0]


@pytest.mark.parametrize("called", ["identity", "other id", "custom", "unknown"])
def test_nothing_of_the_question_itself_reaches_a_prompt(
    memory: Memory, questions: QuestionSet, called: str
) -> None:
    """Its right trajectory is in the memory under another run's name and another id."""
    asked, other = questions.questions[:2]
    disguised = {
        "identity": asked,
        "other id": replace(asked, id="901", text="In other words?"),
        "custom": replace(asked, scenario="custom", id="1", target={}),
        "unknown": asked,
    }[called]
    source = QuestionIdentity.of(disguised).source("another run", disguised.key)
    if called == "unknown":
        source = "a colleague's notes 4"
    usual = trajectory(other, "elsewhere 1", "SELECT id FROM building", "usual")

    def together(values: Mapping[str, Any]) -> object:
        return {"types": {"all": list(range(1, len(values["texts"]) + 1))}}

    use = ModelUse(canned(cluster=together))
    form_memory(memory, [trajectory(disguised, source), usual], Indexer(use), source="runs")
    here = Situation(asked.text, "", (), identity=QuestionIdentity.of(asked))
    assert own_sources(memory, here) == {source}
    acts = ("query[SELECT 1]", f"decide[{(asked.candidates or ())[0]}]")
    with dqa.temporary_database(questions.situation_of(asked)) as database:
        decision = decider(memory, acting(*acts)).decide(asked, database)
        shown = decider(memory, acting(*acts), same_question=True).decide(asked, database)
    assert "planted" not in "\n".join(prompts(decision.trace))
    assert "SELECT id FROM building" in "\n".join(prompts(decision.trace))
    assert "planted" in "\n".join(prompts(shown.trace))  # where it may be, it is found
    for made, is_warned in ((decision, False), (shown, True)):
        warned = [event.text for event in made.trace if isinstance(event, WarningEvent)]
        assert any("this very question" in text for text in warned) == is_warned


def test_a_memory_of_a_run_shows_no_question_its_own_answer(
    run: Run, questions: QuestionSet, tmp_path: Path
) -> None:
    """Through ``dqa eval``: what each prompt shows comes from other questions alone."""
    with open_memory(tmp_path / "memory.db", create=True) as made:
        form_from_runs(made, gather([run], questions))
        tuples = list(made.tuples())
        assert not any(one.subgoals for one in tuples)
    asked = dqa.evaluate(
        questions,
        ["ldm2-queries"],
        model="scripted:analyst",
        databases=["sqlite"],
        settings={"ldm2.memory": str(tmp_path / "memory.db")},
        out=tmp_path / "run",
    )
    left_out = 0
    for trace in asked.traces:
        question = questions.find(trace.question)
        identity = QuestionIdentity.of(question)
        own = {t.id for t in tuples if identity.is_same(QuestionIdentity.in_source(t.source))}
        recalls = found(trace.events, Recall, "recall")
        shown = {one.id for recall in recalls for one in recall.tuples}
        assert shown
        assert not shown & own
        left_out += len(own)
        assert all(text.count(question.text) <= 1 for text in prompts(trace.events))
    assert left_out


def test_statements_are_ranked_by_every_record(memory: Memory) -> None:
    """All equal steps count, and a right one is shown; only wrong ones are as good as none."""
    mostly_wrong, lately_right, proven = (query_action(f"SELECT {n}") for n in "abc")
    records = {mostly_wrong: (1.0, 0.0, 0.0), lately_right: (0.0, 1.0), proven: (1.0, 1.0, 1.0)}
    for action, rewards in records.items():
        for number, reward in enumerate(rewards):
            one = placed("start", action, source=f"run {number}", reward=reward)
            memory.add([one], REFINED, 1 if memory.batches() else None)
    memory.add([placed("start", "wrong", kinds=("put", "bad"), reward=0.0)], REFINED, 1)
    for place in (("put", "see"), ("put", "bad")):
        shown = find_proven(memory, 1, place, state("start"), 9)
        assert [one.action for one in shown] == [proven, lately_right, mostly_wrong]
        assert [one.source for one in shown] == ["run 0", "run 1", "run 0"]
    own = find_proven(memory, 1, ("put", "see"), state("start", "run 1", "run 2"), 1)
    assert [one.action for one in own] == [mostly_wrong]


def test_errors_and_refused_decisions_go_back_to_the_model(
    memory: Memory, questions: QuestionSet
) -> None:
    """A statement that fails is evidence; an unknown name is an error, and asked for again."""
    asked, other = questions.questions[:2]
    form(memory, [trajectory(other, "elsewhere 1")])
    best = str((asked.candidates or ())[0])
    model = acting(
        "query[SELECT nothing]", "query[DROP TABLE goods]", "decide[nobody]", f"decide[{best}]"
    )
    with dqa.temporary_database(questions.situation_of(asked)) as database:
        decision = decider(memory, model).decide(asked, database)
    assert all(one.error for one in decision.evidence)
    assert decision.evidence[1].error == "RefusedStatementError"
    assert str(decision.choice) == best
    assert "Error: 'nobody' names no building id" in "\n".join(prompts(decision.trace))


def test_a_process_ends_by_its_bounds(memory: Memory, questions: QuestionSet) -> None:
    """After the last statement it has to decide; decisions that name nothing end it."""
    asked, other = questions.questions[:2]
    form(memory, [trajectory(other, "elsewhere 1")])
    with dqa.temporary_database(questions.situation_of(asked)) as database:
        lost = decider(memory, acting("decide[nobody]")).decide(asked, database)
        full = decider(memory, acting("query[SELECT 1]"), statements=2).decide(asked, database)
        bare = BareQueriesDecider("bare", acting("decide[1]"), Settings(own=QueriesSettings()))
        without = bare.decide(asked, database)
    assert lost.ending is Ending.UNPARSABLE
    assert full.ending is Ending.UNPARSABLE
    assert len(full.evidence) == 2
    assert "Nothing like this is remembered." in prompts(without.trace)[0]


def test_refining_adds_what_was_better_and_shows_no_reward(
    questions: QuestionSet, memory: Memory
) -> None:
    """Other statements are explored and judged; wrong steps are never shown."""
    asked = questions.questions[0]
    form(memory, [trajectory(asked, "elsewhere 1", "SELECT id FROM building")])
    others = dqa.generate(["building"], count=1, seed=22, per_database=1)
    question = others.questions[0]

    candidates = question.candidates or ()
    actions = [decide_action(one) for one in candidates]
    model = canned(exploration=lambda _: {"actions": actions})
    use = ModelUse(model, "canned")
    report = refine_on_questions(memory, others, use)
    (goal,) = report.goals
    assert goal.source.startswith(f"{others.name} {question.key} ")
    assert {goal.ground_reward, goal.best_reward} <= {None, 0.0, 1.0}
    assert goal.is_improved == (len(memory.versions()) == 2)
    assert all("eward" not in request.text for request in model.requests)


USUAL = "SELECT id FROM t WHERE name = 'a' ORDER BY x LIMIT 1"


def single(tmp_path: Path, *reviews: str, rank: int | None = None) -> Path:
    """Write a single decision, as ``dqa ask --trace`` does."""
    alternatives = [] if rank is None else [{"candidate": "a", "outcome": 1.0, "rank": rank}]
    record = AskedRecord.model_validate(
        {"text": "Which?", "rules": "", "scenario": "custom", "alternatives": alternatives}
    )
    evidence = {"statement": USUAL, "observation": '["id"]\n["a"]\n(1 row)', "row_count": 1}
    failed = {"statement": "SELECT", "observation": "Error: no", "error": "StatementError"}
    trace = Trace.model_validate(
        {
            "question": "custom/1",
            "database": "shop.db",
            "kind": "relational",
            "decider": "planrag",
            "model": "a model",
            "ending": "answered",
            "answer": "a",
            "choice": "a",
            "error": None,
            "outage": None,
            "steps": 2,
            "seconds": 0.1,
            "usage": {"input_tokens": 0, "output_tokens": 0, "calls": 0},
            "plans": [],
            "evidence": [failed, evidence],
            "asked": record,
            "events": [
                ReviewEvent.model_validate({"about": "decision", "text": "a", "action": one})
                for one in reviews
            ],
        }
    )
    file = tmp_path / "asked.json"
    file.write_text(json.dumps(trace.to_json()), "utf-8")
    return file


@pytest.mark.parametrize(
    ("reviews", "rank", "reward"),
    [(("refuse", "approve"), None, 1.0), ((), 1, 1.0), ((), 2, None), ((), None, None)],
)
def test_a_single_decision_is_right_by_its_outcome_or_a_person_s_approval(
    tmp_path: Path, reviews: tuple[str, ...], rank: int | None, reward: float | None
) -> None:
    """Others are left out, unless all are kept; what failed is no step."""
    run = dqa.read_run(single(tmp_path, *reviews, rank=rank))
    made = trajectories_of(run)
    assert [one.reward for one in made.trajectories] == ([] if reward is None else [reward])
    everything = trajectories_of(run, keep_all=True)
    assert len(everything.trajectories[0].steps) == 2
    assert everything.failed == 1


@pytest.mark.slow
def test_three_commands_make_a_memory_of_runs(tmp_path: Path) -> None:
    """A run is remembered, refined, and decides; built again, nothing is new."""
    run = CliRunner()
    memory, past = str(tmp_path / "memory.db"), str(tmp_path / "past")
    generated = ["--generate", "4", "--scenarios", "building", "--seed", "5"]
    scripted = ["--model", "scripted:analyst"]
    evaluated = ["eval", *generated, *scripted, "--databases", "sqlite"]
    assert not run.invoke(app, [*evaluated, "--deciders", "iterrag", "--out", past]).exit_code
    build = ["memory", "build", "--run", past, "--memory", memory]
    first = run.invoke(app, [*build, "--json"])
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout)["trajectories"] > 0
    assert "there already" in run.invoke(app, build).stdout
    refine = ["memory", "refine", "--generate", "1", "--scenarios", "building", "--depth", "3"]
    refined = run.invoke(app, [*refine, "--memory", memory])
    assert refined.exit_code == 0, refined.output
    now = str(tmp_path / "now")
    decided = ["--deciders", "ldm2-queries", "--set", f"ldm2.memory={memory}", "--out", now]
    done = run.invoke(app, [*evaluated, *decided, "--max-statements", "1"])
    assert done.exit_code == 0, done.output
    traces = dqa.read_run(now).traces
    assert all(len(trace.evidence) <= 1 for trace in traces)
    closed = [trace for trace in traces if any(isinstance(e, BudgetEvent) for e in trace.events)]
    assert closed
    assert all(trace.ended_by for trace in closed)
