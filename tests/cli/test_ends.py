"""How commands end that cannot do their work: one line each, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_a_reader_that_has_closed_is_no_error() -> None:
    """As with ``| head -1``: nothing is said."""
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [sys.executable, "-m", "dqa", "list"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (1, "")


def test_a_place_that_cannot_be_written_to_is_found_before_anything_is_read(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after the run that was to fill it."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError("something was read")

    monkeypatch.setattr("dqa.loaders.sources.GeneratedQuestions.read", read)
    monkeypatch.setattr("dqa.loaders.generator.generate.generate", read)
    file = tmp_path / "file"
    file.write_text("mine", "utf-8")
    for arguments, problem in (
        (("eval", "--generate", 1, "--out", file), f"{file} is a file, but a folder is needed"),
        (("eval", "--generate", 1, "--out", file / "run"), f"{file} is a file"),
        (("data", "generate", "--out", file), f"{file} is a file, but a folder is needed"),
        (("data", "generate", "--out", tmp_path), f"{tmp_path} is not empty"),
        (("data", "audit", "--generate", 1, "--html", tmp_path), f"{tmp_path} already exists"),
        (("data", "audit", "--generate", 1, "--html", file), f"{file} already exists"),
        (("data", "audit", "--generate", 1, "--html", tmp_path / "no/a.html"), "does not exist"),
    ):
        ran = dqa(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert problem in ran.err
    monkeypatch.setattr(os, "access", lambda *_: False)
    for out in (("eval", "--generate", 1, "--out"), ("data", "generate", "--out")):
        ran = dqa(*out, tmp_path / "new" / "run")
        assert (ran.code, "may not write to" in ran.err) == (2, True)
