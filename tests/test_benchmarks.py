"""The benchmarks name their needs and can be imported."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import needs
from benchmarks.__main__ import list_benchmarks
from benchmarks.needs import find_need, require

SOURCE = '''"""A docstring
of two lines."""
# A comment.

import os  # with a comment


class Box:
    """A docstring."""

    size: int = 1
    """A text that stands alone."""

    def text(self) -> str:
        """Return a text
        of two lines.
        """
        return """one
two # no comment

four"""


VALUES = (
    1,

    2,
)
'''


def test_every_benchmark_has_a_summary_and_known_needs() -> None:
    """The list imports none of them."""
    found = {benchmark.name: benchmark for benchmark in list_benchmarks()}
    files = {file.stem for file in Path(needs.__file__).parent.glob("*.py")}
    assert set(found) == files - {"__main__", "measuring", "needs", "wide_generator"}
    assert found["shop"].needs == ("shop",)
    for benchmark in found.values():
        assert benchmark.summary.endswith(".")
        for name in (*benchmark.needs, *benchmark.optional):
            assert find_need(name).remedy


@pytest.mark.slow
def test_every_benchmark_can_be_imported() -> None:
    for benchmark in list_benchmarks():
        if all(find_need(name).is_met for name in benchmark.needs):
            assert callable(import_module(f"benchmarks.{benchmark.name}").main)


def test_a_missing_need_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the need and the remedy."""
    monkeypatch.setattr("benchmarks.needs.find_spec", lambda _: None)
    monkeypatch.delenv("DQA_TEST_MYSQL_URL", raising=False)
    with pytest.raises(SystemExit, match=r'needs extra ray .*pip install -e "\.\[ray\]"'):
        require("ray")
    with pytest.raises(SystemExit, match="needs server in DQA_TEST_MYSQL_URL: set"):
        require("mysql")
    require()
