"""The installed wheel, beside a user's own modules of tempting names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
TEMPTING = ("schemas", "simulators", "planrag", "dellma", "scenarios", "loaders")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that a user would install."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_packages_of_our_own_names_alone(wheel: Path) -> None:
    """Nothing that could shadow, or be shadowed by, a user's module."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"dqa", "dqa_bidder", "dqa_dellma", "dqa_ldm2", "dqa_planrag", "dqa_simulators"}
    for data in ("dqa/schemas/locating/scenario.toml", "dqa_planrag/prompts/react.md"):
        assert data in names


@pytest.mark.slow
def test_the_installed_wheel_runs_beside_a_users_own_modules(wheel: Path, tmp_path: Path) -> None:
    """Plug-ins are found, and the user's modules are neither imported nor in the way."""
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    for name in TEMPTING:
        (work / f"{name}.py").write_text("raise SystemExit('the user module was imported')\n")
    # The wheel goes before the checkout that the tests themselves are installed from.
    environment = {**os.environ, "PYTHONPATH": str(site)}
    script = (
        "import json, dqa, dqa_planrag, dqa_simulators\n"
        "from dqa import plugins\n"
        "kinds = ('scenario', 'decider', 'simulator', 'database')\n"
        "for kind in kinds:\n"
        "    for name in plugins.names(kind):\n"
        "        load = {'database': plugins.backend}.get(kind) or getattr(plugins, kind)\n"
        "        load(name)\n"
        "files = [m.__file__ for m in (dqa, dqa_planrag, dqa_simulators)]\n"
        "print(json.dumps({'files': files, **{k: plugins.names(k) for k in kinds}}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert all(Path(file).is_relative_to(site) for file in found["files"])
    assert {"planrag", "iterrag", "singlerag", "planrag-no-replan"} <= set(found["decider"])
    assert set(found["simulator"]) == {"locating", "building", "placements"}
    assert set(found["scenario"]) == {"locating", "building", "agriculture", "stocks", "placements"}

    show = ["show", "locating/1", "--generate", "1", "--json"]
    for program in ([sys.executable, "-m", "dqa"], [sys.executable, str(site / "bin" / "dqa")]):
        shown = subprocess.run(
            [*program, *show],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["key"] == "locating/1"


Installing: TypeAlias = Callable[..., Path]
_OURS = ("dqa", "decision_qa", "_editable", "__editable__", "zz_")
HEAVY = {
    "numpy",
    "pydantic",
    "langchain_core",
    "langgraph",
    "sqlalchemy",
    "sqlglot",
    "testcontainers",
}


@pytest.fixture(scope="session")
def install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installing:
    """Make an environment of its own that has the wheel, and what it needs but for some."""

    def installed(*without: str) -> Path:
        folder = tmp_path_factory.mktemp("environment")
        venv.create(folder, symlinks=True)
        (site,) = folder.glob("lib/python*/site-packages")
        for place in (Path(entry) for entry in sys.path if entry.endswith("site-packages")):
            for entry in sorted(place.iterdir()):
                mine = site / entry.name
                if not entry.name.startswith((*_OURS, *without)) and not mine.exists():
                    mine.symlink_to(entry)
        python = folder / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        subprocess.run([*pip, "--no-deps", str(wheel)], check=True, capture_output=True)
        return python

    return installed


def run_pytest(python: Path, folder: Path, *arguments: str) -> str:
    """Run pytest of an environment in a folder; return what it printed."""
    ours = ("PYTHONPATH", "DQA_")  # with the servers of these tests, theirs would need no container
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [str(python), "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
def test_ten_lines_test_a_decision_with_the_installed_wheel(
    install: Installing, tmp_path: Path
) -> None:
    """Alone and under pytest-xdist; without testcontainers, a server is no test that passes."""
    python = install("testcontainers")
    (lines,) = re.findall(r"```python\n(from dqa\.testing .*?)```", README, re.DOTALL)
    failing = lines.replace('answer("south")', 'answer("north")').replace(
        "def test_", "def test_not_"
    )
    served = "def test_served(dqa_server):\n    dqa_server('postgres')\n"
    for name, text in (("right", lines), ("wrong", failing), ("served", served)):
        (tmp_path / f"test_{name}.py").write_text(text, "utf-8")
    assert len(lines.splitlines()) <= 10
    said = run_pytest(python, tmp_path, "-n", "2")
    assert "2 failed, 1 passed" in said, said
    assert "The decision is 'north', and 'south' was expected." in said
    assert "dqa: 1 decision" in said
    assert 'pip install "decision-qa[testing]"' in said
    (used,) = re.findall(
        r"plugins: .*decision-qa-[\d.]+", run_pytest(python, tmp_path, "test_right.py")
    )
    assert used


@pytest.mark.slow
def test_a_test_run_that_uses_no_fixture_imports_nothing_for_them(
    install: Installing, tmp_path: Path
) -> None:
    """Wherever the wheel is installed, every run of pytest loads the plug-in."""
    python = install("anyio", "hypothesis", "_hypothesis", "langsmith")  # other plug-ins
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\n\ndef test_it():\n"
        "    print('loaded', *sorted(name for name in sys.modules if name.startswith('dqa')))\n"
        f"    assert not sys.modules.keys() & {HEAVY}\n",
        "utf-8",
    )
    said = run_pytest(python, tmp_path, "-s")
    assert "1 passed" in said, said
    (loaded,) = re.findall(r"loaded (.*)", said)
    assert loaded.split() == [
        "dqa",
        "dqa.evaluation",
        "dqa.evaluation.observers",
        "dqa.testing",
        "dqa.testing.plugin",
    ]
