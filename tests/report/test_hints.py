"""Commands in messages can be pasted."""

from __future__ import annotations

import shlex

import pytest

from dqa.evaluation.location import locate_run
from dqa.report.hints import command, resume_command


@pytest.mark.parametrize(
    "word", ["runs/first", "k.db#k", "my runs/a", "it's", "$HOME `x`", 'a "b"', "postgres://*@h/t"]
)
def test_a_command_names_to_a_shell_what_was_named(word: str) -> None:
    """Whatever is in it."""
    assert shlex.split(command("results", word))[1:] == ["results", word]


def test_a_command_can_be_pasted_out_of_the_quotes_of_a_sentence() -> None:
    """They are single ones, so there are none within."""
    place = locate_run("k.db#k")
    assert f"'{resume_command(place)}' goes on" == "'dqa eval --resume \"k.db#k\"' goes on"
