"""Commands in messages can be pasted."""

from __future__ import annotations

import shlex

import pytest

from dqa.core.distribution import shell_command
from dqa.report.hints import resume_command


@pytest.mark.parametrize("word", ["my runs/a", "it's", "$HOME `x`", 'a "b"', "postgres://*@h/t"])
def test_a_command_quotes_any_word(word: str) -> None:
    assert shlex.split(shell_command("show", word))[1:] == ["show", word]


def test_a_command_in_a_sentence_has_no_single_quotes() -> None:
    """Sentences put commands in single quotes."""
    assert f"'{resume_command('k.db#k')}'" == "'dqa eval --resume \"k.db#k\"'"
