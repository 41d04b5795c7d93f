"""A shell completes names: of options, deciders, scenarios, databases, sets and formats."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FOUND = """
import sys
from dqa.cli.main import app
try:
    app(prog_name="dqa")
except SystemExit:
    heavy = {"scipy", "langchain_core", "langgraph", "sqlalchemy", "ladybug", "duckdb"}
    print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("dqa anal", {"analyse"}),
        ("dqa eval --deciders planrag,dellma-p", {"planrag,dellma-pairs"}),
        ("dqa eval --deciders first,firs", set()),
        ("dqa eval --scenarios agriculture,loc", {"agriculture,locating"}),
        ("dqa eval --databases sqlite,lady", {"sqlite,ladybug"}),
        ("dqa eval --set hard", {"hard-1"}),
        ("dqa eval --model scripted:", {"scripted:analyst", "scripted:greedy", "scripted:random"}),
        ("dqa eval --protocol t", {"tools"}),
        ("dqa generate --resist ora", {"oracle"}),
        ("dqa ask --scenario buil", {"building"}),
        ("dqa list --settings self", {"self-consistency"}),
        ("dqa check --dialect mar", {"mariadb"}),
        ("dqa formats decision", {"decision_tree"}),
        ("dqa dellma por", {"portfolio"}),
    ],
)
def test_names_are_completed_without_the_world(line: str, found: set[str]) -> None:
    """What was typed before in a list stays, what is in it already is not offered again."""
    done = subprocess.run(
        [sys.executable, "-c", FOUND],
        env={
            **os.environ,
            "_DQA_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(done.stdout.split()) == found
    assert done.stderr.strip() == "[]"
