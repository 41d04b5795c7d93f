"""Confirm the guesses of ``dqa init``, as a user does after checking them."""

from __future__ import annotations

from pathlib import Path


def confirm(folder: Path) -> None:
    """Mark a proposed folder's goal, candidates and outcomes as confirmed."""
    file = folder / "scenario.toml"
    text = file.read_text("utf-8")
    assert "confirmed = false" in text
    file.write_text(text.replace("confirmed = false", "confirmed = true"), "utf-8")
