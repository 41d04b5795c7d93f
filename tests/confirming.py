"""Confirms what ``dqa init`` guessed, as a user does after checking it."""

from __future__ import annotations

from pathlib import Path


def confirm(folder: Path) -> None:
    """Write into a proposed folder that its goal, candidates and outcomes are right."""
    file = folder / "scenario.toml"
    text = file.read_text("utf-8")
    assert "confirmed = false" in text
    file.write_text(text.replace("confirmed = false", "confirmed = true"), "utf-8")
