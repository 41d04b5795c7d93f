"""The replay of DeLLMa's release: what it prints."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from benchmarks.reproductions.dellma.__main__ import main
from tests.dellma.dellma_scripts import write_decision, write_rankings, write_tables

ROOT = Path(__file__).parents[2]


@pytest.fixture
def release(tmp_path: Path) -> str:
    """A small release with one ranking that is too short."""
    write_tables(tmp_path)
    write_decision(tmp_path, "zero-shot", '{"decision": "action 2. kiwi: 10 acres"}')
    write_rankings(tmp_path, [(["fig", "kiwi", "kiwi", "fig"], {"rank": [2, 3]})])
    return str(tmp_path)


def test_it_prints_a_table_beside_what_the_scripts_say(
    release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every method has its row, and what was wrong goes to stderr."""
    main(["--release", release])
    result = capsys.readouterr()
    for text in (
        "zero-shot",
        "pairs",
        "top1",
        "100.000",
        "30.833 / 82.747",
        "100.0 / 100.0",
        "chance",
    ):
        assert text in result.out
    assert "defect" not in result.out
    assert "2 are not ranked" in result.err


def test_it_prints_json(release: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing but the record is on stdout."""
    main(["--release", release, "--json"])
    record = json.loads(capsys.readouterr().out)
    assert (record["rule_set"], record["notes"]) == ("released", [])
    assert record["yardsticks"][0]["chance"] == 50.0
    scores = record["scores"]
    assert [score["method"] for score in scores] == ["pairs", "top1", "zero-shot"]
    for score in scores:
        (part,) = score["by_actions"]
        assert (score["questions"], part["questions"], part["actions"]) == (1, 1, 2)


def test_the_wheel_holds_no_replay() -> None:
    """What reproduces another program's figures is not what users install."""
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]
    packages = hatch["build"]["targets"]["wheel"]["packages"]
    assert not [name for name in packages if name.startswith("bench")]
    modules = [path.stem for name in packages for path in (ROOT / name).rglob("*.py")]
    assert not {"rounding", "recordings", "scores"} & set(modules)
