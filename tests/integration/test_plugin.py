"""The pytest plug-in's servers: in containers, as docs/testing.md has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.testing.containers import why_no_container
from tests.programs import run_python
from tests.test_testing_page import blocks


def test_the_documented_module_runs_in_containers_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No URL names a server, so the plug-in starts one of each kind."""
    for name in ("mysql", "postgres"):
        why = why_no_container()
        if why is not None:
            pytest.skip(why)
        monkeypatch.delenv(f"DQA_TEST_{name.upper()}_URL", raising=False)
    (tmp_path / "test_servers.py").write_text(blocks()["test_servers.py"], "utf-8")
    done = run_python("-m", "pytest", "-W", "error", "test_servers.py", cwd=tmp_path)
    assert "2 passed" in done.stdout, done.stdout
