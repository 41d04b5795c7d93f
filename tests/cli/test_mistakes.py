"""Mistakes of users: one clear line on stderr, one exit code, and nothing is written."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import dqa as api
from dqa import plugins
from tests.cli.conftest import Command
from tests.sqlite_files import run_script

EVAL = "eval --generate 1 --scenarios locating --databases sqlite --deciders first"
ASK = "ask --database shop.db --question ? --decider"
DELLMA = f"{ASK} dellma-pairs --candidate-name a --candidate-name b"
CONTEXT = f"{DELLMA} --context"
STORED = "ask --database stored.db --decider oracle"
WRONG = {
    # Commands and their options
    "evl": "eval",
    "view runs/x": "now 'dqa report'",
    "eval --nothing": "--nothing",
    "doctor postgresql://ann:secret@host/shop": "ann:***@host",
    "eval --generate 0": "--generate",
    "eval": "--release DIR",
    "eval --generate 1 --deciders planrug": "Did you mean 'planrag'?",
    "eval --generate 1 --scenarios cooking": "building, locating",
    "eval --generate 1 --model gpt": "provider:model",
    "eval --generate 1 --protocol reat": "'react', 'tools'",
    "eval --resume nowhere": "nowhere does not exist",
    "eval --release no/such/folder": "no/such/folder",
    "data question locating/99 --generate 1": "locating/1",
    "schema no.such": "'no.such' does not exist",
    "schema --database shop.db": "it is an argument",
    "list shop.db": "use --database",
    # Calls of models, and settings of deciders
    f"{EVAL} --record a --replay b": "one of them",
    f"{EVAL} --replay b --budget-tokens 5": "replay spends nothing",
    f"{EVAL} --budget-cost 5": "--price-input",
    f"{EVAL} --requests-per-minute 0": "--requests-per-minute",
    f"{EVAL} --set thoughts=2": "no setting of these deciders 'thoughts'",
    f"{EVAL} --set thoughts": "NAME=VALUE",
    f"{EVAL} --set a=1 --set a=2": "sets a twice",
    f"{DELLMA}": "--context",
    f"{CONTEXT} 'DROP TABLE supplier'": "None of the statements of the context",
    f"{CONTEXT} 'SELECT 1' --set dellma.samples=0": "samples: must be at least 1",
    f"{CONTEXT} 'SELECT 1' --set dellma.sample=8": ("Did you mean 'dellma.samples'"),
    f"{DELLMA} --protocol tools": "protocol tools",
    "eval --generate 1 --scenarios locating,agriculture --databases sqlite --deciders planrag": (
        "scripted:analyst answers only questions of the scenarios locating, building"
    ),
    # Paths
    "analyse no/run": "no/run does not exist",
    "show bad.jsonl": "bad.jsonl",
    "show empty": "this is not JSON",
    "eval --release bytes": "bytes is a file, but a folder is expected",
    "eval --release folder": "folder",
    "eval --questions bad.jsonl --database shop.db": "bad.jsonl",
    "eval --generate 1 --policy no.json": "no.json does not exist",
    "eval --generate 1 --replay empty": "this is an empty file",
    "eval --generate 1 --replay bytes": "not a line of a cassette",
    "check --dialect mysql no.sql": "no.sql does not exist",
    "ask --database bytes --question ?": "'bytes' is not a database that any of",
    "ask --database http://x/y --question ?": "has no dialect 'http'",
    f"{ASK} first --rules .": ". is a folder",
    f"{ASK} first --candidates 'SELECT 1 WHERE 0'": "(--candidates): the statement",
    # Questions
    "ask --database shop.db --question ''": "is empty",
    "init --database shop.db --question ''": "--question is empty",
    "query shop.db ''": "STATEMENT is empty",
    "ask --database blank.db --question ? --decider first": "No table of",
    STORED: "'question' (--question) is missing",
    f"{STORED} --question ? --target goods=iron": "give 'scenario' (--scenario)",
    f"{STORED} --scenario zoo": "no scenario 'zoo'",
    f"{STORED} --scenario building --question ? --target goods=x": "its own question",
    f"{STORED} --scenario building": "does not match the scenario",
    f"{STORED} --scenario locating": "--target country=",
    f"{STORED} --scenario building --target good=x": "Did you mean 'goods'",
    f"{STORED} --scenario building --target goods=a --target goods=b": "twice",
    f"{STORED} --scenario locating --target country=x": "no country in",
    # Generated questions
    "data generate --out new --mix direct=0.3": "must sum to 1",
    "data generate --out new --mix direct=x,far=1": "direct=0.3,far=0.7",
    "data generate --out new --mix near=0.3,far=0.7": "no --mix share 'near'",
    "data generate --out new --name hard-0": "There is no question set 'hard-0'. There are: hard-1",
    "data generate --out new --name hard-1 --seed 2": "--name NAME selects a fixed set",
    # Stored runs
    "eval --resume run --max-steps 3": "max_steps was 20 and is now 3",
    "eval --resume run --deciders random": 'deciders was ["first"] and is now ["random"]',
    "eval --resume run --limit 1": "questions.limit was null and is now 1",
    "eval --resume run --release folder": "folder",
    "eval --resume run --out elsewhere": "leave out --out",
    "eval --resume run --spec missing.yaml": "leave out --spec",
    "export run --format xml": "'xml' is not an export format",
    "export run --out rows.txt": "'txt' is not an export format",
    "export run --format parquet": "parquet needs a new file",
    "export run --out none/rows.csv": "does not exist",
    "export run --out folder --format inspect": "is not empty",
    "show run --decider planrug": "no decider 'planrug'",
    "report run": "--json",
    "compare run": "needs at least two",
}
"""Commands, and a part of their message."""


@pytest.fixture(scope="module")
def world(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with databases, a run, and files that are not what a command expects."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "bytes").write_bytes(bytes(range(256)))
    (folder / "empty").touch()
    (folder / "bad.jsonl").write_text("{bad", "utf-8")
    (folder / "folder").mkdir()
    (folder / "folder" / "file").touch()
    for name, script in (
        ("shop.db", "CREATE TABLE supplier (name TEXT)"),
        ("blank.db", "PRAGMA user_version = 1"),
    ):
        run_script(folder / name, script)
    questions = api.read_generated(generated)
    situation = questions.situation_of(questions.find("locating/1"))
    plugins.backend("sqlite").load(situation, str(folder / "stored.db")).close()
    return folder


def test_every_mistake_is_one_line_and_writes_nothing(
    dqa: Command, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, and the message is on stderr alone."""
    monkeypatch.chdir(world)
    assert dqa(*EVAL.split(), "--out", "run").code == 0
    before = sorted(world.rglob("*"))
    wrong = {}
    for arguments, words in WRONG.items():
        ran = dqa(*shlex.split(arguments))
        is_clear = words in ran.err and ran.err.splitlines()[-1].lower().startswith("error: ")
        if (ran.code, ran.out, is_clear) != (2, "", True) or "Error(" in ran.err:
            wrong[arguments] = (ran.code, ran.out[:99], ran.err[-300:])
    assert wrong == {}
    assert sorted(world.rglob("*")) == before
