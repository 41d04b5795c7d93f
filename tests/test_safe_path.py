"""No process of this project imports from the current directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from threading import Timer

import pytest

from tests.sqlite_files import run_script

NAMES = (
    *("json", "socket", "pickle", "subprocess", "multiprocessing", "ctypes", "signal", "typing"),
    *("numpy", "pydantic", "sqlalchemy", "sqlglot", "sitecustomize", "usercustomize"),
    *("dqa", "dqa_planrag", "dqa_simulators"),
)
"""Modules of the standard library, of installed packages, and of this project."""
PLANTED = """
open({mark!r}, "w").close()
raise ImportError("it was imported from the current directory")
"""
DQA = (str(Path(sys.executable).with_name("dqa")),)
"""The installed command."""
MODULE = (sys.executable, "-m", "dqa")
EVAL = ("eval", "--generate", "1", "--scenarios", "locating", "--databases", "sqlite")
TRAIN = ("games", "train", "--world", "holdem", "--player", "cfr", "--budget", "1")
PROCESSES, RAY = ("--processes", "2"), ("--engine", "ray")
PLAY = ("games", "play", "--world", "household", "--player", "expert", "--games", "1")
MCP = (
    {
        "method": "initialize",
        "id": 1,
        "params": {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {
        "method": "tools/call",
        "id": 2,
        "params": {"name": "query_database", "arguments": {"statement": "SELECT name FROM shop"}},
    },
)


def plant(folder: Path, names: tuple[str, ...] = NAMES) -> None:
    """Write modules into a folder; each creates a file with the ending ``.mark`` when imported."""
    for name in names:
        file = folder / name / "__init__.py" if name.startswith("dqa") else folder / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(PLANTED.format(mark=str(folder / f"{name}.mark")))


def environment(folder: Path, path: str = "") -> dict[str, str]:
    """Return the environment of a command, with `path` in front of ``PYTHONPATH``."""
    variables = {
        **os.environ,
        "PYTHONPATH": path + os.environ.get("PYTHONPATH", ""),
        "DQA_CACHE": str(folder / "cache"),
        "RAY_ADDRESS": "local",
    }
    variables.pop("PYTHONSAFEPATH", None)
    return variables


def imported(folder: Path) -> list[str]:
    """Return the names of the planted modules that were imported."""
    return sorted(mark.stem for mark in folder.glob("*.mark"))


def run(folder: Path, *command: str, start: Path | None = None, path: str = "") -> str:
    """Return the output of a command, which must succeed and import nothing from a folder.

    Parameters
    ----------
    folder
        The folder with planted modules.
    *command
        The program and its arguments.
    start
        The current directory; by default the folder.
    path
        Text in front of ``PYTHONPATH``.
    """
    done = subprocess.run(
        command,
        cwd=start or folder,
        env=environment(folder, path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (imported(folder), done.returncode) == ([], 0), done.stderr + done.stdout
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with planted modules and a database of one table."""
    run_script(tmp_path / "shop.db", "CREATE TABLE shop (name TEXT); INSERT INTO shop VALUES ('a')")
    plant(tmp_path)
    return tmp_path


def test_commands_that_read_a_database(folder: Path) -> None:
    assert "a" in run(folder, *DQA, "query", "shop.db", "SELECT name FROM shop")
    assert "shop" in run(folder, *DQA, "schema", "shop.db")
    # ``-m`` adds the folder to the path, where Python would find the package `dqa`.
    (folder / "dqa/__init__.py").unlink()
    run(folder, *MODULE, "query", "shop.db", "SELECT name FROM shop")
    # -E ignores the variable that excludes the folder.
    run(folder, sys.executable, "-E", *DQA, "query", "shop.db", "SELECT name FROM shop")


@pytest.mark.parametrize(
    "engine",
    [
        (),
        pytest.param(PROCESSES, marks=pytest.mark.slow),
        pytest.param(RAY, marks=pytest.mark.deep),
    ],
)
def test_an_evaluation(folder: Path, engine: tuple[str, ...]) -> None:
    """In threads, in processes and on a cluster, with a scripted model."""
    if "ray" in engine:
        pytest.importorskip("ray", reason="the ray extra is not installed")
    assert "scripted:analyst" in run(folder, *DQA, *EVAL, "--deciders", "planrag", *engine)


def test_a_server_of_agent_tools(folder: Path) -> None:
    """It answers a call over standard input and output."""
    server = subprocess.Popen(
        [*DQA, "mcp", "--database", "shop.db"],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    patience = Timer(60, server.kill)
    patience.start()
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.writelines(json.dumps({"jsonrpc": "2.0", **sent}) + "\n" for sent in MCP)
        server.stdin.flush()
        replies = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
    patience.cancel()
    assert (imported(folder), server.returncode) == ([], 0)
    assert not replies[1]["result"]["isError"]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyspiel") is None, reason="the games extra is not installed")
def test_training(folder: Path) -> None:
    trained = run(folder, *DQA, *TRAIN)
    assert "cfr was trained: 1 iterations" in trained


@pytest.mark.slow
@pytest.mark.skipif(find_spec("alfworld") is None, reason="the household extra is not installed")
def test_a_household(folder: Path) -> None:
    """TextWorld runs in another process."""
    plant(folder, ("textworld", "alfworld", "fast_downward"))
    assert "expert" in run(folder, *DQA, *PLAY)


OWN = """
import multiprocessing, os, sys
from contextlib import closing
from own_decider import Own
import dqa, dqa.core.interpreters

if __name__ == "__main__":
    os.chdir(sys.argv[1])
    if sys.argv[2] == "spawned":
        dqa.core.interpreters._CONTEXT = multiprocessing.get_context("spawn")
    with closing(dqa.open_database("shop.db")) as database:
        assert database.query("SELECT name FROM shop").rows == (("a",),)
    questions = dqa.generate(("locating",), count=2, seed=1)
    options = dqa.RunOptions(workers=2, processes=2)
    run = dqa.evaluate(questions, Own(), databases="sqlite", options=options)
    assert [result.outcome.judged for result in run.results] == [True, True]
    print("decided")
"""
OWN_DECIDER = """
from dqa import Decider, Decision, Ending

class Own(Decider):
    name = "own"

    def decide(self, question, database):
        return Decision(Ending.ANSWERED, choice=question.candidates[0])
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["forked", pytest.param("spawned", marks=pytest.mark.deep)])
def test_a_script_in_another_folder(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, how: str
) -> None:
    """Its own modules are imported.

    Python reads an empty entry of ``PYTHONPATH`` as the current directory, and the product must
    not.
    """
    own = tmp_path_factory.mktemp("own")
    (own / "script.py").write_text(OWN)
    (own / "own_decider.py").write_text(OWN_DECIDER)
    command = (sys.executable, str(own / "script.py"), str(folder), how)
    assert run(folder, *command, start=own, path=os.pathsep) == "decided\n"
