"""Positions of worlds that are found out by acting in them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.worlds.history import Game, History
from dqa.worlds.observed import AGENT, BEGINNING, GOAL, read_observed
from dqa.worlds.world import GameEvent

LONG = "a page of text, " * 400


def test_a_long_history_is_read_whole(tmp_path: Path) -> None:
    """What is shown to a model may be cut; what was seen is never."""
    events = [GameEvent(1, "shop", "chance", BEGINNING, LONG)]
    events += [GameEvent(n, "shop", AGENT, f"click[{n}]", f"{n} {LONG}") for n in range(2, 303)]
    question = Question("shop", "1", "Buy.", "", target={"game": "1", GOAL: "Red shoes."})
    with closing(History(str(tmp_path / "history.db"), isolation="none")) as history:
        history.begin(Game(1, "shop", 1, mirrored=False, settings="{}", hidden={}))
        history.add(1, events)
        with closing(history.open_for(1, AGENT)) as database:
            position = read_observed(question, database)
    assert position.events == tuple(events)
    assert position.observation == f"302 {LONG}"
    assert position.goal == "Red shoes."
    with pytest.raises(UsageError, match="is unknown before it is done"):
        position.after("click[1]")
