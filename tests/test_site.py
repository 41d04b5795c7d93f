"""The documentation site builds without a broken link, and its reference is complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.main import get_group

from dqa import plugins
from dqa.api.listing import format_names
from dqa.cli.main import app
from tests.programs import run_python

pytestmark = pytest.mark.slow


def test_the_site_builds_with_a_complete_reference(tmp_path: Path) -> None:
    pytest.importorskip("material")
    home = Path(__file__).parents[1]
    run_python("-m", "mkdocs", "build", "--quiet", "--site-dir", tmp_path, cwd=home, check=True)
    pages = {
        name: (tmp_path / "reference" / name / "index.html").read_text("utf-8")
        for name in ("commands", "settings", "formats")
    }
    commands = [f'id="dqa-{name}"' for name in get_group(app).commands]
    assert [one for one in commands if one not in pages["commands"]] == []
    assert [
        one for one in plugins.names("world") if f'id="world-{one}"' not in pages["settings"]
    ] == []
    assert [one for one in format_names() if f'id="{one}"' not in pages["formats"]] == []
    assert "planrag" in (tmp_path / "index.html").read_text("utf-8")
