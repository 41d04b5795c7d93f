"""Past decisions as memory, from a run to an evaluation, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.ldm2_queries import BARE, INITIAL, REFINED, measure, tell


@pytest.mark.deep
def test_a_memory_of_past_decisions_raises_accuracy_and_refining_it_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each on questions of its own; ``python -m benchmarks.ldm2_queries`` has 100 of each."""
    measured = measure("building", 40, (1, 2, 3), tmp_path)
    tell(measured)
    said = capsys.readouterr().out
    assert measured.right(BARE) < measured.right(INITIAL) < measured.right(REFINED), said
    assert "McNemar" in said
