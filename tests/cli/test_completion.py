"""A shell completes names: of options, deciders, scenarios, databases, sets and formats."""

from __future__ import annotations

import json

from tests.programs import run_python

COMPLETING = """
import contextlib, io, json, os, sys
from dqa.cli.main import app

found = {}
for line in json.loads(sys.argv.pop()):
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    os.environ |= {"_DQA_COMPLETE": "complete_bash"} | words
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        app(prog_name="dqa")
    found[line] = printed.getvalue().split()
print(json.dumps([found, list(sys.modules)]))
"""
HEAVY = {"scipy", "langchain_core", "langgraph", "sqlalchemy", "ladybug", "duckdb"}
NAMES = {
    "dqa anal": {"analyse"},
    "dqa eval --deciders planrag,dellma-p": {"planrag,dellma-pairs"},
    "dqa eval --deciders first,firs": set(),
    "dqa eval --scenarios agriculture,loc": {"agriculture,locating"},
    "dqa eval --databases sqlite,lady": {"sqlite,ladybug"},
    "dqa eval --set hard": {"hard-1"},
    "dqa eval --model scripted:": {"scripted:analyst"},
    "dqa eval --protocol t": {"tools"},
    "dqa list --settings self": {"self-consistency"},
    "dqa check --dialect mar": {"mariadb"},
    "dqa init --databa": {"--database"},
    "dqa data formats decision": {"decision_tree"},
    "dqa dellma por": {"portfolio"},
}


def test_names_are_completed_without_heavy_imports() -> None:
    """What is in a list already stays, and is not offered again."""
    done = run_python("-c", COMPLETING, json.dumps(list(NAMES)), check=True)
    found, imported = json.loads(done.stdout)
    assert {line: set(words) for line, words in found.items()} == NAMES
    assert HEAVY & set(imported) == set()
