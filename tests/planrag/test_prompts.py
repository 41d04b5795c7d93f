"""What models are told: the same text, but for the blocks that a recipe is there to vary."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from jinja2 import Environment
from jinja2.meta import find_undeclared_variables
from langchain_core.messages import BaseMessage

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.display import Display
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import ProtocolName, Settings
from dqa_planrag import prompting
from dqa_planrag.prompting import CLOSING, PLANNER, Block, Bounds, blocks, instructions, joined
from dqa_planrag.recipes import RECIPES, Recipe
from tests.planrag.conftest import COUNT, Replies, calling, open_question

PROTOCOLS: tuple[ProtocolName, ...] = ("react", "tools")
BOUNDS = Bounds(DEFAULT_LIMITS, 20)
BY_NAME = {recipe.name: recipe for recipe in RECIPES}

PLAN = ("planning", "plan", "current_step")
REPLAN = ("judging", "replan")
ONLY = {
    "singlerag": ("reading_once", "observation_once"),
    "iterrag": (),
    "planrag": (*PLAN, *REPLAN),
    "planrag-no-replan": PLAN,
    "planrag-no-thought": (*PLAN, *REPLAN),
    "planrag-thought-first": (
        *("planning", "thought", "plan", "current_step", "judging", "thought", "replan"),
    ),
    "iterrag-one-shot": ("example",),
    "planrag-one-shot": ("example", *PLAN, *REPLAN),
    "planrag-two-models": ("plan_given", "new_plan"),
    "planrag-sim": (*PLAN, "simulating", *REPLAN),
}
"""The blocks, in order, that an agent may have besides IterRAG's."""
LACKS = {
    "singlerag": ("reading", "turn", "observation", "stop", "last_thought", "answer"),
    "planrag-no-thought": ("thought", "last_thought"),
    "planrag-thought-first": ("thought", "last_thought"),
}
"""The blocks of IterRAG's that an agent may do without; no other does without any."""


def assert_only_these_blocks_differ(
    found: Iterable[Block], base: Iterable[Block], only: Iterable[str], lacks: Iterable[str]
) -> None:
    """What is left of both is the same text, and what is taken away has the listed names."""
    found, base, only, lacks = list(found), list(base), list(only), set(lacks)
    known = {block.name for block in base} - lacks
    extra = [block.name for block in found if block.name not in known]
    assert extra == [name for name in only if name in {block.name for block in found}]
    rest = [block for block in found if block.name in known]
    shared = [block for block in base if block.name not in lacks]
    assert rest == shared
    assert joined(rest) == joined(shared)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_agents_differ_in_the_listed_blocks_alone(recipe: Recipe, protocol: ProtocolName) -> None:
    """To the letter; so a difference in accuracy is the plan's, not another wording's."""
    found, base = blocks(recipe, protocol, BOUNDS), blocks(BY_NAME["iterrag"], protocol, BOUNDS)
    assert_only_these_blocks_differ(found, base, ONLY[recipe.name], LACKS.get(recipe.name, ()))
    assert instructions(recipe, protocol, BOUNDS) == joined(found)
    if protocol == "react":
        # Every block that is listed has a text there.
        assert {block.name for block in found} >= set(ONLY[recipe.name])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_three_retrieval_agents_differ_in_plan_and_replan(protocol: ProtocolName) -> None:
    """Taking the plan away leaves IterRAG's prompt, taking the re-plan away the one without it."""
    told = {name: blocks(BY_NAME[name], protocol, BOUNDS) for name in ONLY}
    for name, removed, left in (
        ("planrag", REPLAN, "planrag-no-replan"),
        ("planrag", (*PLAN, *REPLAN), "iterrag"),
        ("planrag-no-replan", PLAN, "iterrag"),
        ("planrag-one-shot", (*PLAN, *REPLAN), "iterrag-one-shot"),
        ("planrag-sim", ("simulating",), "planrag"),
    ):
        rest = joined(block for block in told[name] if block.name not in removed)
        assert rest == instructions(BY_NAME[left], protocol, BOUNDS)
        assert rest != joined(told[name])


@pytest.mark.parametrize("name", ["role", "reading", "thought", "action", "observation", "stop"])
def test_the_comparison_finds_one_word_in_one_recipe(name: str) -> None:
    """A sentence that only PlanRAG had would be found, under its block's name or another."""
    base = blocks(BY_NAME["iterrag"], "react", BOUNDS)
    found = blocks(BY_NAME["planrag"], "react", BOUNDS)
    other = [Block(b.name, b.text + " Do." if b.name == name else b.text) for b in found]
    renamed = [Block("mine" if b.name == name else b.name, b.text) for b in found]
    left_out = [b for b in found if b.name != name]
    for changed in (other, renamed, left_out):
        with pytest.raises(AssertionError):
            assert_only_these_blocks_differ(changed, base, ONLY["planrag"], ())


def test_no_block_reads_the_recipe() -> None:
    """A template knows limits and added tools, and no agent: it cannot word two of them apart."""
    limits = {"max_steps", "rows", "characters", "seconds", "numbers", "added", "looking_up"}
    shown = {"standing_plan": {"plan", "current_step"}, "out_of_budget": {"spent"}}
    for protocol in PROTOCOLS:
        for name, source in prompting.sources(protocol).items():
            used = find_undeclared_variables(Environment().parse(source))  # noqa: S701
            assert used <= limits | shown.get(name, set()), name


def test_every_block_of_the_files_is_somebodys() -> None:
    """No text lies there that no model reads, and no layout names what no file has."""
    used = {name for recipe in RECIPES for name in prompting.layout(recipe)}
    used |= {*PLANNER, *CLOSING, "standing_plan", "out_of_budget"}
    assert used == {name for protocol in PROTOCOLS for name in prompting.sources(protocol)}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("agent", sorted(set(ONLY) - {"planrag-two-models"}))
def test_the_prompt_says_what_an_observation_shows_at_most(
    agent: str, protocol: ProtocolName
) -> None:
    """From the limits of the run, and that a statement may have several lines."""
    limits = Limits(rows=7, bytes=1_234, seconds=2.5)
    told = instructions(BY_NAME[agent], protocol, Bounds(limits, 5, Display(digits=4)))
    assert "at most 7 rows and 1,234 characters" in told
    assert "rounded to 4 significant digits" in told
    assert "takes at most 2.5 seconds" in told
    in_full = instructions(BY_NAME[agent], protocol, Bounds(limits, 5, Display(digits=0)))
    assert "digits" not in in_full
    assert "on one line or several" in told
    assert ("at most 5 replies" in told) == (agent != "singlerag")


def test_the_limits_of_a_run_reach_its_prompt(questions: QuestionSet, database: Database) -> None:
    """As data: nothing in a prompt knows a number."""
    model = Replies(replies=["Final Answer: x"])
    settings = Settings(limits=Limits(rows=3, bytes=900))
    plugins.decider("iterrag")(model, settings).decide(open_question(questions), database)
    assert "at most 3 rows and 900 characters" in model.shown[0][0].text


def asked(
    agent: str, protocol: ProtocolName, questions: QuestionSet, database: Database
) -> Replies:
    """Let an agent read twice in its own format and then decide."""
    plans, replans = BY_NAME[agent].plans, BY_NAME[agent].replans
    statement = COUNT[database.kind]
    if protocol == "react":
        act = f"Thought: t\nAction: query_database\nAction Input: {statement}"
        plan = "Plan:\n1. Count.\n2. Choose.\nCurrent step: 1\n" if plans else ""
        again = f"{'Re-plan: keep' if replans else ''}\n{'Current step: 2' if plans else ''}\n{act}"
        replies: list[object] = [plan + act, again, "Final Answer: x"]
    else:
        query = ("query_database", {"statement": statement})
        step = "Current step: {}" if plans else ""
        replies = [calling(query, text=step.format(n)) for n in (1, 2)]
        if plans:
            replies.insert(0, calling(("plan", {"steps": ["Count.", "Choose."]})))
        replies.append(calling(("decide", {"decision": "x"})))
    model = Replies(replies=replies)
    decider = plugins.decider(agent)(model, Settings(protocol=protocol))
    decision = decider.decide(open_question(questions), database)
    assert (decision.answer, len(decision.evidence)) == ("x", 2)
    return model


def shown_last(messages: list[BaseMessage]) -> str:
    """What the model reads last."""
    return messages[-1].text


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("agent", ["planrag", "planrag-no-replan"])
def test_the_plan_that_holds_stands_behind_the_newest_observation_alone(
    agent: str, protocol: ProtocolName, questions: QuestionSet, database: Database
) -> None:
    """With the step that was taken last; it is the only thing that IterRAG does not see there."""
    model = asked(agent, protocol, questions, database)
    other = asked("iterrag", protocol, questions, database)
    for back, step in ((2, 1), (1, 2)):
        plan = f"\n\nThe plan that holds; your last step was {step}:\n1. Count.\n2. Choose."
        assert shown_last(model.shown[-back]) == shown_last(other.shown[-back]) + plan
        texts = [message.text for message in model.shown[-back]]
        assert sum("The plan that holds" in text for text in texts) == 1
    assert not any("The plan that holds" in m.text for m in model.shown[0])


@pytest.mark.parametrize(
    "reply", ["Re-plan: 1. Other.\n2. End.\n", "Re-plan: Y\nPlan: [Step 1: Other., Step 2: End.]\n"]
)
def test_a_new_plan_takes_the_old_ones_place(
    reply: str, questions: QuestionSet, database: Database
) -> None:
    """And a step that is not named is none."""
    act = f"Action: query_database\nAction Input: {COUNT[database.kind]}"
    model = Replies(replies=[f"Plan: 1. Count.\n{act}", f"{reply}\n{act}", "Final Answer: x"])
    decider = plugins.decider("planrag")(model, Settings())
    decision = decider.decide(open_question(questions), database)
    assert len(decision.plans) == 2
    assert model.shown[1][-1].text.endswith("\n\nThe plan that holds:\n1. Count.")
    assert model.shown[2][-1].text.endswith(f"\n\nThe plan that holds:\n{decision.plans[1]}")
    assert "Other." in decision.plans[1]


def test_remarks_around_a_plan_are_not_shown_again() -> None:
    """Its steps are, as the model wrote them."""
    plan = "The flows do not do.\n\n3. Look.\n   - at a\n4. Choose.\n\nI go on."
    shown = prompting.standing_plan("react", plan, "3")
    assert shown == "The plan that holds; your last step was 3:\n3. Look.\n   - at a\n4. Choose."


def test_the_models_that_plan_apart_are_not_shown_it_twice(
    questions: QuestionSet, database: Database
) -> None:
    """One is sent each plan once, the other wrote it."""
    act = f"Action: query_database\nAction Input: {COUNT[database.kind]}"
    model = Replies(replies=["Plan: 1. Count.", act, "Re-plan: N", "Final Answer: x"])
    decider = plugins.decider("planrag-two-models")(model, Settings())
    assert decider.decide(open_question(questions), database).answer == "x"
    assert not any("The plan that holds" in m.text for shown in model.shown for m in shown)
