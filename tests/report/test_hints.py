"""Commands in messages can be pasted."""

from __future__ import annotations

import shlex

import pytest

from dqa.evaluation.location import locate_run
from dqa.report.hints import command, resume_command


@pytest.mark.parametrize(
    "word", ["runs/first", "k.db#k", "my runs/a", "it's", "$HOME `x`", 'a "b"', "postgres://*@h/t"]
)
def test_a_command_quotes_any_word(word: str) -> None:
    assert shlex.split(command("show", word))[1:] == ["show", word]


def test_a_command_in_a_sentence_has_no_single_quotes() -> None:
    """Sentences put commands in single quotes."""
    location = locate_run("k.db#k")
    assert f"'{resume_command(location)}'" == "'dqa eval --resume \"k.db#k\"'"
