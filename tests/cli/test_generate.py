"""`dqa data generate`: mixes and named sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dqa as api
from dqa_simulators.locating.generator import LocatingSize
from tests.stored import record_of

SMALL = ("--scenarios", "locating", "--size", "locating.nodes=20", "--size", "locating.edges=40")
SIZE = LocatingSize(12, 20, 20, 60)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("--mix", "direct=0.3"), "must sum to 1"),
        (("--mix", "direct=x,far=1"), "direct=0.3,far=0.7"),
        (("--mix", "near=0.3,far=0.7"), "no share in --mix called 'near'"),
        (("--mix", "0.3"), "of the form direct=X,far=X"),
        (("--set", "hard-0"), "There is no question set 'hard-0'. There are: hard-1"),
        (("--set", "hard-1", "--seed", "2"), "--set NAME is a fixed set"),
        (("--set", "hard-1", "--questions", "2"), "--set NAME is a fixed set"),
    ],
)
def test_what_cannot_be_is_refused(
    dqa: Callable[..., Any], tmp_path: Path, given: tuple[str, ...], problem: str
) -> None:
    """In one line, and nothing is written."""
    ran = dqa("data", "generate", "--out", tmp_path / "a", *given)
    assert ran.code == 2
    assert problem in ran.err
    assert not (tmp_path / "a").exists()


def test_a_resumed_run_knows_its_set(dqa: Callable[..., Any], tmp_path: Path) -> None:
    """The spec of a run names it, and reads back as it."""
    few = ("--deciders", "first", "--databases", "sqlite", "--scenarios", "building")
    run = ("eval", "--set", "hard-1", *few, "--limit", "2", "--out", tmp_path / "run")
    assert dqa(*run).code == 0
    spec = record_of(tmp_path / "run")["spec"]
    assert spec["questions"] == {
        "source": "set",
        "name": "hard-1",
        "scenarios": ["building"],
        "limit": 2,
    }
    assert len(api.RunSpec.from_json(spec).questions.read().questions) == 2
    assert dqa("eval", "--resume", tmp_path / "run").code == 0
