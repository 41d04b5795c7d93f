"""The command that runs servers without Docker, without starting one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.programs import run_python

SCRIPT = Path(__file__).parents[2] / "docker" / "local" / "servers.py"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the script as a user does; it imports modules of its own folder."""
    variables = {**os.environ, "PYTHONSAFEPATH": ""}
    return run_python(SCRIPT, *arguments, env=variables)


def test_env_starts_no_server(tmp_path: Path) -> None:
    assert run("env", "--state", tmp_path / "state").stdout == ""
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.parametrize("command", ["kill", "restart", "env"])
def test_a_command_about_a_missing_server_is_one_error(tmp_path: Path, command: str) -> None:
    done = run(command, "mariadb", "--state", tmp_path / "state")
    assert (done.returncode, done.stdout) == (1, "")
    assert "mariadb" in done.stderr


def test_a_state_folder_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    """It holds passwords and data."""
    tmp_path.chmod(0o777)
    assert run("env", "--state", tmp_path).returncode == 1
