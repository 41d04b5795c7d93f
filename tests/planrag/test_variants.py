"""Every agent, in both protocols, on relational and graph databases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from dqa import plugins
from dqa.core.database import Database, Kind
from dqa.core.decision import Decision, Ending
from dqa.core.display import Display
from dqa.core.errors import UsageError
from dqa.core.events import Event, OtherEvent
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Column, Schema, Situation, Table, TableSchema
from dqa.deciders.base import Example, Examples, Settings
from dqa.evaluation.examples import OtherQuestions
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.options import RunOptions
from dqa.evaluation.plan import Setup
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.run import evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.store import RunStore
from dqa.evaluation.traces import Trace
from dqa.loaders.release import read_release
from dqa.models.scripted import scripted_model
from dqa_planrag.deciders import Agent
from dqa_planrag.recipes import RECIPES, Recipe
from tests.planrag.conftest import (
    COUNT,
    Replies,
    assert_alternating,
    assert_sendable,
    calling,
    open_question,
)

PROTOCOLS: tuple[Literal["react", "tools"], ...] = ("react", "tools")
QUICK = ("planrag", "planrag-two-models", "iterrag-one-shot")
EMBEDDED = ("sqlite", "ladybug")


@pytest.fixture(scope="module")
def examples(questions: QuestionSet) -> Iterator[OtherQuestions]:
    """The generated questions as examples for each other."""
    source = OtherQuestions()
    source.take(questions)
    yield source
    source.close()


@pytest.fixture(scope="module")
def release(release_dir: Path) -> QuestionSet:
    """All shared questions."""
    return read_release(release_dir)


def evaluated(
    questions: QuestionSet,
    recipes: Sequence[Recipe],
    rules: str,
    databases: Sequence[str] = EMBEDDED,
    protocols: Sequence[Literal["react", "tools"]] = PROTOCOLS,
) -> tuple[Result, ...]:
    """Evaluate agents with the scripted analyst; a decider is called ``agent protocol``."""
    source = OtherQuestions()
    source.take(questions)
    deciders = {
        f"{recipe.name} {name}": Agent(
            recipe,
            scripted_model("analyst"),
            Settings(protocol=name, rules=rules, examples=source),
        )
        for recipe, name in product(recipes, protocols)
    }
    setup = Setup(
        questions,
        {name: plugins.backend(name) for name in databases},
        dict(deciders),
        dict.fromkeys(deciders, "scripted:analyst"),
    )
    try:
        return evaluate(setup, Judge(questions, rules), RunStore(), RunOptions(workers=2))
    finally:
        source.close()


def assert_protocols_agree(results: Sequence[Result]) -> None:
    """No protocol changes what is decided, read, planned or said in the end."""
    found: dict[tuple[str, str, str], dict[str, tuple[object, ...]]] = {}
    for result in results:
        agent, name = result.decider.split()
        key = (result.question, result.database, agent)
        said = (result.answer, result.choice, result.outcome, result.statements, result.plans)
        found.setdefault(key, {})[name] = said
    for key, by_protocol in found.items():
        assert by_protocol["react"] == by_protocol["tools"], key


def only(decision: Decision, kind: str) -> list[Event]:
    """The events of one kind."""
    return [event for event in decision.trace if event.kind == kind]


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(recipe, id=recipe.name, marks=() if recipe.name in QUICK else pytest.mark.slow)
        for recipe in RECIPES
    ],
)
def test_every_variant_decides_alike_in_both_protocols_and_on_both_kinds(
    recipe: Recipe, questions: QuestionSet, examples: OtherQuestions
) -> None:
    """No statement fails, every trace can be read back, and every run decides the same."""
    for question in questions.questions:
        chosen = set()
        for name, backend in product(PROTOCOLS, EMBEDDED):
            database = plugins.backend(backend).load(questions.situation_of(question))
            settings = Settings(protocol=name, rules="paper", examples=examples)
            decision = Agent(recipe, scripted_model("analyst"), settings).decide(question, database)
            database.close()
            assert decision.ending is Ending.ANSWERED
            assert [e.error for e in decision.evidence if e.error] == []
            assert only(decision, "parse_failure") == []
            chosen.add((decision.choice, len(decision.evidence), len(decision.plans)))
            asked = DecisionKey(question.key, backend, recipe.name)
            trace = Trace.of(asked, database.kind, "scripted:analyst", decision)
            assert Trace.model_validate(json.loads(json.dumps(trace.to_json()))) == trace
            assert not any(isinstance(event, OtherEvent) for event in trace.events)
        assert len(chosen) == 1
        assert None not in chosen.pop()


@pytest.mark.slow
def test_every_variant_on_forty_shared_questions(release: QuestionSet) -> None:
    """1,600 runs: none crashes or goes astray, and the protocols decide the same."""
    results = evaluated(release.select(limit=20), RECIPES, "released")
    assert len(results) == 40 * len(RECIPES) * len(PROTOCOLS) * len(EMBEDDED)
    assert {r.outcome for r in results} <= {Outcome.CORRECT, Outcome.WRONG, Outcome.UNPARSABLE}
    assert_protocols_agree(results)


@pytest.mark.slow
def test_the_simulating_agent_is_right_on_every_shared_question(release: QuestionSet) -> None:
    """100 % under the released rules, on relational and graph databases, in either protocol."""
    simulating = [recipe for recipe in RECIPES if recipe.simulates]
    results = evaluated(release, simulating, "released")
    assert len(results) == len(release.questions) * len(EMBEDDED) * len(PROTOCOLS)
    assert {result.outcome for result in results} == {Outcome.CORRECT}
    assert_protocols_agree(results)


def test_the_simulating_agent_is_right_under_the_papers_rules_too(release: QuestionSet) -> None:
    """It simulates by the rules that it is judged by."""
    simulating = [recipe for recipe in RECIPES if recipe.simulates]
    results = evaluated(release.select(limit=10), simulating, "paper", protocols=("react",))
    assert {result.outcome for result in results} == {Outcome.CORRECT}


def test_what_the_simulating_agent_ran_is_evidence_of_its_own_kind(
    questions: QuestionSet, database: Database
) -> None:
    """The trace tells a simulation from a retrieval, with what was asked and what came of it."""
    settings = Settings(rules="paper", display=Display(fold=False))
    decider = plugins.decider("planrag-sim")(scripted_model("analyst"), settings)
    decision = decider.decide(questions.find("locating/1"), database)
    assert [e.tool for e in decision.evidence] == ["query_database", "compare"]
    (simulated,) = only(decision, "simulation")
    assert simulated.data["tool"] == "compare"
    assert simulated.data["row_count"] == len(questions.find("locating/1").candidates or ())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("agent", ["iterrag-one-shot", "planrag-one-shot"])
def test_one_shot_agents_are_shown_another_questions_run(
    agent: str,
    protocol: Any,
    questions: QuestionSet,
    examples: OtherQuestions,
    database: Database,
) -> None:
    """A right one, of the same scenario, before the task; the trace shows it and ids stay apart."""
    asked = questions.find("locating/1")
    example = next(examples.others(asked, database.kind))
    other = example.question
    model = Replies(replies=["hm"] * 3)
    settings = Settings(protocol=protocol, examples=examples, max_steps=3)
    decision = plugins.decider(agent)(model, settings).decide(asked, database)
    (shown, *_) = model.shown
    tasks = [m.text for m in shown if isinstance(m, HumanMessage) and "# Question" in m.text]
    assert [other.text in text for text in tasks] == [True, False]
    assert [asked.text in text for text in tasks] == [False, True]
    assert all(f"Language: {database.language}\n" in text for text in tasks)
    said = [m for m in shown if isinstance(m, AIMessage)]
    (prompt, *_) = only(decision, "prompt")
    if protocol == "tools":
        (decided,) = said[-2].tool_calls
        right = decided["args"]["decision"]
        # The example ends with the agent's own words: the next task may not follow a result.
        assert not said[-1].tool_calls
        called = f"(called decide with {{'decision': '{right}'}})"
        assert any(text.endswith(called) for _, text in prompt.data["messages"])
    else:
        _, _, right = said[-1].text.rpartition("Final Answer: ")
    assert example.accepts(right)
    assert_sendable(shown)
    assert [kind for kind, _ in prompt.data["messages"]] == [m.type for m in shown]
    for (_, text), message in zip(prompt.data["messages"], shown, strict=True):
        assert text.startswith(message.text)


def test_an_example_does_not_hang_on_what_bounds_the_run(
    questions: QuestionSet, examples: OtherQuestions, database: Database
) -> None:
    """Few steps for the run are enough for its example."""
    settings = Settings(examples=examples, max_steps=1)
    decider = plugins.decider("planrag-one-shot")(scripted_model("analyst"), settings)
    decision = decider.decide(questions.find("locating/1"), database)
    assert decision.ending is Ending.STEP_LIMIT


def test_ids_of_an_example_and_of_the_run_stay_apart(
    questions: QuestionSet, examples: OtherQuestions, database: Database
) -> None:
    """In one conversation each call has an id of its own."""
    model = Replies(
        replies=[
            calling(("query_database", {"statement": COUNT[database.kind]})),
            calling(("decide", {"decision": "x"})),
        ]
    )
    settings = Settings(protocol="tools", examples=examples)
    plugins.decider("iterrag-one-shot")(model, settings).decide(open_question(questions), database)
    assert_sendable(model.shown[1])


def test_a_question_without_others_has_no_example(
    questions: QuestionSet, database: Database
) -> None:
    """The message says what there is and what to do, before any model is asked."""
    question = questions.find("locating/1")
    unknown = replace(question, scenario="custom")
    with closing(OtherQuestions()) as alone:
        alone.take(QuestionSet("one", (unknown,), questions.situations))
        for source, asked in ((None, question), (alone, unknown)):
            decider = plugins.decider("iterrag-one-shot")(
                Replies(replies=[]), Settings(examples=source)
            )
            with pytest.raises(UsageError, match=r"there is none beside .* take 'iterrag'"):
                decider.decide(asked, database)


SHOP = {"name": ["corner"]}


class Strange(Examples):
    """Examples that the analyst cannot work: their databases are none that it knows."""

    def others(self, question: Question, kind: Kind) -> Iterator[Example]:
        """Yield two of another kind of business."""
        del kind
        shop = TableSchema("shop", (Column("name", "text"),), ("name",))
        situation = Situation(Schema("shops", (shop,)), "shops", {"shop": Table(shop, SHOP)})
        for number in ("7", "8"):
            other = replace(question, id=number, situation=f"shop{number}")
            yield Example(other, plugins.backend("sqlite").load(situation), lambda _: True)


def test_examples_of_an_unknown_scenario_are_tried_and_counted(
    questions: QuestionSet, database: Database
) -> None:
    """The analyst's own refusal is not what the user reads."""
    decider = plugins.decider("planrag-one-shot")(Replies(replies=[]), Settings(examples=Strange()))
    with pytest.raises(UsageError, match=r"none of 2 could be used beside .* take 'planrag'"):
        decider.decide(questions.find("locating/1"), database)


def two_models(
    protocol: Any, planner: Sequence[object], agent: Sequence[object]
) -> tuple[Replies, Replies, Settings]:
    """A planner and an agent that say what is given."""
    plans = Replies(replies=list(planner))
    return plans, Replies(replies=list(agent)), Settings(protocol=protocol, planner=plans)


def test_of_two_models_in_text_each_does_its_own_part(
    questions: QuestionSet, database: Database
) -> None:
    """One plans and judges what came back, the other reads and decides; turns alternate."""
    act = f"Thought: count\nAction: query_database\nAction Input: {COUNT[database.kind]}"
    planner, agent, settings = two_models(
        "react",
        ["Plan: 1. count", "Re-plan: keep", "Re-plan:\n1. count again"],
        [act, "hm", act, "Thought: t\nFinal Answer: x"],
    )
    decider = plugins.decider("planrag-two-models")(agent, settings)
    decision = decider.decide(open_question(questions), database)
    assert (decision.ending, decision.answer) == (Ending.ANSWERED, "x")
    assert decision.plans == ("1. count", "1. count again")
    assert (decision.steps, decision.usage.calls, decision.usage.input_tokens) == (4, 7, 70)
    assert [e.data["role"] for e in only(decision, "reply")] == [
        *("planner", "agent", "planner", "agent", "agent", "planner", "agent")
    ]
    assert [e.data["role"] for e in only(decision, "prompt")] == ["planner", "agent"]
    steps = [event.step for event in decision.trace if event.kind != "prompt"]
    assert steps == sorted(steps)
    for messages in (*planner.shown, *agent.shown):
        assert_alternating(messages)
    assert "# Plan\n1. count" in agent.shown[0][1].text
    assert agent.shown[3][-1].text.endswith("New plan:\n1. count again")
    assert "Action Input" not in planner.shown[0][0].text
    assert "# Plan" not in planner.shown[0][1].text
    assert COUNT[database.kind] in planner.shown[1][-1].text
    assert "Observation: " in planner.shown[1][-1].text


def test_of_two_models_with_tools_each_is_offered_its_own(
    questions: QuestionSet, database: Database
) -> None:
    """The planner never sees a tool to query with, the agent none to plan with."""
    query = calling(("query_database", {"statement": COUNT[database.kind]}))
    planner, agent, settings = two_models(
        "tools",
        [
            calling(("plan", {"steps": ["count"]})),
            calling(("replan", {"steps": []})),
            calling(("replan", {"steps": ["count again"]})),
        ],
        [query, query, calling(("decide", {"decision": "x"}))],
    )
    decider = plugins.decider("planrag-two-models")(agent, settings)
    decision = decider.decide(open_question(questions), database)
    assert decision.plans == ("1. count", "1. count again")
    assert (decision.ending, decision.steps, decision.usage.calls) == (Ending.ANSWERED, 3, 6)
    assert planner.offered == [["plan"], ["replan"], ["replan"]]
    assert agent.offered == [["query_database", "decide"]] * 3
    shown = agent.shown[2][-1]
    assert isinstance(shown, ToolMessage)
    assert shown.text.endswith("\n\nNew plan:\n1. count again")
    for messages in (*planner.shown, *agent.shown):
        assert_sendable(messages)


def test_one_model_may_play_both_parts(questions: QuestionSet, database: Database) -> None:
    """Without a planner of its own the agent's model plans too."""
    model = Replies(replies=["Plan: 1. count", "Final Answer: x"])
    decider = plugins.decider("planrag-two-models")(model, Settings())
    decision = decider.decide(open_question(questions), database)
    assert (decision.plans, decision.answer, len(model.shown)) == (("1. count",), "x", 2)


def test_prompts_differ_where_the_paper_says_so(questions: QuestionSet, database: Database) -> None:
    """Table 10's structures: no thought, or the thought before the plan and none before actions."""
    told = {}
    for agent in ("planrag", "planrag-no-thought", "planrag-thought-first", "planrag-no-replan"):
        model = Replies(replies=["hm"] * 3)
        plugins.decider(agent)(model, Settings()).decide(questions.find("locating/1"), database)
        told[agent] = model.shown[0][0].text
    labels = {
        agent: [line.partition(":")[0] for line in text.splitlines() if ":" in line]
        for agent, text in told.items()
    }
    assert "Thought" not in told["planrag-no-thought"]
    order = [label for label in labels["planrag-thought-first"] if label in {"Thought", "Plan"}]
    assert order[:2] == ["Thought", "Plan"]
    assert "Re-plan" in told["planrag"]
    assert "Re-plan" not in told["planrag-no-replan"]
    # Nothing but the structure differs in what stands around it.
    assert len({text.splitlines()[0] for text in told.values()}) == 1
