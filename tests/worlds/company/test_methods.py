"""Every method plays the company, and positions are looked ahead by the books alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from typer.testing import CliRunner

import dqa
from dqa import plugins
from dqa.cli.main import app
from dqa.core.errors import UsageError
from dqa.core.events import PromptEvent
from dqa.evaluation.options import RunOptions
from dqa_simulators.company.position import COMPETITOR, CompanyPosition

SETTINGS = {"company.periods": "2", "company.events": "1"}
HERE = RunOptions(isolation="none")


class Manager(BaseChatModel):
    """Reads the stock, then orders nothing; declines proposals."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: Sequence[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager, kwargs
        said = "\n".join(str(message.content) for message in messages)
        reply = "Plan: 1. look up the stock\nCurrent step: 1\nThought: The stock decides.\n"
        reply += "Action: query_database\nAction Input: SELECT item, SUM(closing) FROM inventory"
        if "Observation" in str(messages[-1].content) or "only statement" in said:
            listed = said.partition("# Candidates\n")[2].splitlines()[1]
            reply = f"Thought: Enough.\nFinal Answer: {listed.removeprefix('- ')}"
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply))])

    @property
    def _llm_type(self) -> str:
        return "manager"


def position(seed: int = 4, **settings: Any) -> CompanyPosition:
    """Return the first position of a company."""
    factory = plugins.world("company")
    move = factory.make(factory.settings.model_validate(settings), None).start(seed).next_move()
    assert move is not None
    assert isinstance(move.position, CompanyPosition)
    return move.position


@pytest.mark.parametrize("method", ["singlerag", "iterrag", "planrag"])
def test_agents_that_query_play(method: str) -> None:
    """Every period is decided after a query of the books."""
    run = dqa.play(
        "company", method, games=1, model=Manager(name="it"), settings=SETTINGS, options=HERE
    )
    (result,) = run.results
    assert result.game is not None
    assert result.game.facts["periods"] == 2
    assert result.game.fallbacks == {"agent": 0}
    assert result.game.actions["agent"]["decline"] == 1


def test_a_plan_is_kept_over_the_periods(tmp_path: Path) -> None:
    """If it is set, the prompt of a later move has the plan of the one before."""
    for keep in ("true", "false"):
        settings = SETTINGS | {"planrag.keep": keep}
        run = dqa.play(
            *("company", "planrag"),
            games=1,
            model=Manager(name="it"),
            settings=settings,
            options=HERE,
            out=tmp_path / keep,
        )
        prompts = [
            "last decision of this game\n1. look up the stock" in event.messages[1][1]
            for trace in run.traces
            for event in trace.events
            if isinstance(event, PromptEvent)
        ]
        assert len(prompts) > 2
        assert prompts == [False, *[keep == "true"] * (len(prompts) - 1)]


@pytest.mark.parametrize("method", ["direct", "dellma-naive", "bidder-t1", "ldm2"])
def test_scripted_methods_play(method: str, tmp_path: Path) -> None:
    """From the rows of the context, by looking ahead, and by a memory of earlier episodes."""
    settings, memory = dict(SETTINGS), str(tmp_path / "memory.db")
    if method == "ldm2":
        told = ["memory", "build", "--world", "company", "--player", "analyst", "--games", "2"]
        found = CliRunner().invoke(app, [*told, "--set", "company.periods=2", "--memory", memory])
        assert found.exit_code == 0, found.output
        settings["ldm2.memory"] = memory
    run = dqa.play("company", method, games=1, seed=5, settings=settings, options=HERE)
    (result,) = run.results
    assert result.game is not None
    assert result.game.fallbacks == {"agent": 0}
    assert result.game.moves["agent"] > 2


def test_the_competitor_replies_to_a_plan_and_the_books_go_on() -> None:
    """A position after two periods has the expected books of both, then the game ends."""
    start = now = position(periods=2, proposals=False)
    for left in (1, 0):
        now = now.after("plan[buy I1 north 100 S2; price I2 5]" if left else now.actions[1])
        assert now.mover == COMPETITOR
        now = now.after("lower its prices")
        assert now.left == left
    assert now.node == "terminal"
    assert now.reading.periods == start.reading.periods + 2
    assert now.reading.levels[1] == 5
    rivals = np.round(start.reading.rival_prices[-1] * 0.95, 2)
    assert (now.reading.rival_prices[-2] == rivals).all()
    for row in now.reading.tables["inventory"][len(start.reading.tables["inventory"]) :]:
        sold = [one[4] for one in now.reading.tables["sales"] if one[1:4] == row[:3]]
        assert row[3] + row[4] - sold[0] == row[6] >= 0
    with pytest.raises(UsageError):
        now.after("plan[nothing]")


def test_looking_ahead_does_not_know_the_luck() -> None:
    """Books that are read back by queries give the same expectation as those of the episode."""
    factory = plugins.world("company")
    world = factory.make(factory.settings.model_validate({"periods": 3}), None)
    episode = world.start(4)
    move = episode.next_move()
    assert move is not None
    read = world.position(move.question, move.database)
    plan = move.position.actions[2]
    expected = [one.after(plan).after("keep its prices") for one in (move.position, read)]
    assert expected[0] == expected[1]
    episode.choose(plan)
    following = episode.next_move()
    assert following is not None
    assert following.question.text != expected[0].events[-1].detail
    episode.close()
