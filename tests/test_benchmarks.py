"""The benchmarks are listed, can be imported, and name missing packages."""

from __future__ import annotations

from importlib import import_module

import pytest

from benchmarks.__main__ import main
from benchmarks.needs import require


@pytest.mark.slow
def test_every_benchmark_is_listed_with_a_summary_and_can_be_imported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert {"loading", "memory", "make_set"} <= lines.keys()
    for name, summary in lines.items():
        assert summary.endswith(".")
        assert callable(import_module(f"benchmarks.{name}").main)


def test_a_missing_extra_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the command that installs it."""
    monkeypatch.setattr("benchmarks.needs.find_spec", lambda _: None)
    with pytest.raises(SystemExit, match=r'pip install -e "\.\[games\]"'):
        require("games")
    require()
