"""The installed wheel, beside a user's own modules of tempting names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
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


def test_the_wheel_holds_four_packages_of_our_own_names(wheel: Path) -> None:
    """Nothing that could shadow, or be shadowed by, a user's module."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"dqa", "dqa_dellma", "dqa_planrag", "dqa_simulators"}
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
    assert set(found["simulator"]) == {"locating", "building"}
    assert set(found["scenario"]) == {"locating", "building", "agriculture", "stocks"}

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
