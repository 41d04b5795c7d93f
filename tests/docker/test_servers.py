"""The command that runs servers without Docker, as far as it goes without starting one."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.programs import run_python

SCRIPT = Path(__file__).parents[2] / "docker" / "local" / "servers.py"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the script as a user does; it imports modules of its own folder."""
    variables = {**os.environ, "PYTHONSAFEPATH": ""}
    return run_python(SCRIPT, *arguments, env=variables)


def test_status_of_a_new_state_folder_is_absent(tmp_path: Path) -> None:
    """Nothing runs in a folder that has just been made, and asking starts nothing."""
    done = run("status", "--json", "--state", tmp_path / "state")
    absent = {"state": "absent"}
    assert json.loads(done.stdout) == {"mariadb": absent, "postgres": absent, "neo4j": absent}
    assert list((tmp_path / "state").iterdir()) == []


def test_url_of_a_server_never_started_is_one_clear_error(tmp_path: Path) -> None:
    """The error says which server, and what to do."""
    done = run("url", "neo4j", "--state", tmp_path / "state")
    assert done.returncode == 1
    assert done.stderr == "error: neo4j has not been started: start neo4j\n"


def test_kill_and_restart_need_a_server(tmp_path: Path) -> None:
    """There is nothing to kill or to start again before a start."""
    for command in ("kill", "restart", "pause", "resume"):
        done = run(command, "mariadb", "--state", tmp_path / "state")
        assert (done.returncode, done.stdout) == (1, "")
        assert "mariadb has not been started" in done.stderr


def test_a_state_folder_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    """Passwords and data are kept only where nobody else can replace them."""
    tmp_path.chmod(0o777)
    done = run("status", "--state", tmp_path)
    assert done.returncode == 1
    assert "others cannot write to" in done.stderr


def test_a_folder_that_is_no_server_is_left_alone(tmp_path: Path) -> None:
    """Discarding a server never takes anything that it did not make."""
    kept = tmp_path / "dqa-neo4j" / "thesis.txt"
    kept.parent.mkdir()
    kept.write_text("years of work", encoding="utf-8")
    done = run("stop", "neo4j", "--state", tmp_path)
    assert done.returncode == 1
    assert "'thesis.txt', which is no part of a server" in done.stderr
    assert kept.exists()


def test_an_unknown_server_is_wrong_usage(tmp_path: Path) -> None:
    """The servers there are get named."""
    done = run("start", "oracle", "--state", tmp_path)
    assert done.returncode == 2
    assert "'oracle' is none of mariadb, postgres, neo4j" in done.stderr
