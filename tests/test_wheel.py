"""The installed wheel, next to a user's modules with the names of our folders."""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path

import pytest

from tests.programs import run_python

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
TEMPTING = ("schemas", "simulators", "planrag", "dellma", "scenarios", "loaders")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    done = run_python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_only_our_packages(wheel: Path) -> None:
    """It can neither shadow a user's module nor be shadowed by one."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"dqa", "dqa_bidder", "dqa_dellma", "dqa_ldm2", "dqa_planrag", "dqa_simulators"}
    for data in ("dqa/schemas/locating/scenario.toml", "dqa_planrag/prompts/react.md"):
        assert data in names


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a folder that precedes the checkout on the path."""
    folder = tmp_path_factory.mktemp("site")
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--target", folder)
    run_python(*pip, wheel, check=True)
    return folder


def run(site: Path, folder: Path, *words: str, **variables: str) -> str:
    """Run a program of the installed wheel in a folder; return its output."""
    theirs = ("PYTHONPATH", "DQA_TEST")  # no server of these tests
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    del inherited["PYTHONSAFEPATH"]  # the user's modules must be on the path
    done = run_python(*words, cwd=folder, env={**inherited, "PYTHONPATH": str(site), **variables})
    return done.stdout + done.stderr


SCRIPT = """
import json, dqa, dqa_planrag, dqa_simulators
from dqa import plugins
kinds = ("scenario", "decider", "simulator", "database")
for kind in kinds:
    for name in plugins.names(kind):
        load = {"database": plugins.backend}.get(kind) or getattr(plugins, kind)
        load(name)
files = [m.__file__ for m in (dqa, dqa_planrag, dqa_simulators)]
print(json.dumps({"files": files, **{k: plugins.names(k) for k in kinds}}))
"""


@pytest.mark.slow
def test_the_installed_wheel_runs_next_to_a_user_s_modules(site: Path, tmp_path: Path) -> None:
    """Plug-ins are found, and the user's modules are not imported."""
    for name in TEMPTING:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the user module was imported')\n")
    found = json.loads(run(site, tmp_path, "-c", SCRIPT))
    assert all(Path(file).is_relative_to(site) for file in found["files"])
    assert {"planrag", "iterrag", "singlerag", "planrag-no-replan"} <= set(found["decider"])
    assert set(found["simulator"]) == {"locating", "building"}
    assert set(found["scenario"]) == {"locating", "building", "agriculture", "stocks"}
    show = ["data", "question", "locating/1", "--generate", "1", "--json"]
    shown = run(site, tmp_path, str(site / "bin" / "dqa"), *show)
    assert json.loads(shown).keys() == {"question", "target", "rules", "schema", "answer"}


HEAVY = {"numpy", "pydantic", "langchain_core", "langgraph", "sqlalchemy", "sqlglot"}


@pytest.mark.slow
def test_ten_lines_test_a_decision_with_the_installed_wheel(site: Path, tmp_path: Path) -> None:
    """The plug-in imports nothing heavy before a test needs it."""
    (lines,) = re.findall(r"```python\n(from dqa\.testing .*?)```", README, re.DOTALL)
    assert len(lines.splitlines()) <= 10
    (tmp_path / "conftest.py").write_text(f"import sys\nassert not sys.modules.keys() & {HEAVY}\n")
    (tmp_path / "test_right.py").write_text(lines, "utf-8")
    output = run(
        *(site, tmp_path, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider"),
        *("-p", "dqa.testing.plugin"),
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",  # other plug-ins may import more
    )
    assert "1 passed" in output, output
