"""The code and the statement of docs/worlds.md work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.sqlite_files import rows_of
from tests.worlds.playing import WORLDS, at_random, make_world, moves_of, open_history

PAGE = (Path(__file__).parents[2] / "docs" / "worlds.md").read_text(encoding="utf-8")


def test_the_documented_game_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To its end, into a file."""
    pytest.importorskip("pyspiel")
    monkeypatch.chdir(tmp_path)
    code, *_ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "worlds.md", "exec"), {})  # noqa: S102
    assert "'category of player'" in capsys.readouterr().out
    assert (tmp_path / "games.sqlite").is_file()


def test_the_documented_visit_to_the_shop_is_played(capsys: pytest.CaptureFixture[str]) -> None:
    """By the program of the page."""
    section = PAGE.partition("## The shop")[2]
    code, *_ = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    exec(compile(code, "worlds.md", "exec"), {})  # noqa: S102
    assert "{'agent': 1.0} {'success': True" in capsys.readouterr().out


def test_the_documented_statement_answers(tmp_path: Path) -> None:
    """Over games of every world."""
    history = open_history(tmp_path)
    for place, name in enumerate(WORLDS):
        world = make_world(name, history.numbered_from(100 * place))
        for seed in range(4):
            for _ in moves_of(world.start(seed), at_random(seed, cautious=0.7)):
                pass
    (statement,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    rows = rows_of(tmp_path / "games.sqlite", statement)
    history.close()
    assert {row[0] for row in rows} >= {"pre-flop", "bets", "first", "turn 1"}
