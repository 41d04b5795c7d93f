"""Run Python programs in separate processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def run_python(
    *words: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    check: bool = False,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run this Python with arguments, for example `-m dqa list`; return its output."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(
        command, env=env, cwd=cwd, check=check, timeout=timeout, capture_output=True, text=True
    )


def start_python(
    *words: str | Path, env: Mapping[str, str] | None = None, cwd: str | Path | None = None
) -> subprocess.Popen[str]:
    """Start this Python with arguments and pipes for its input, output and messages."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        env=env,
        cwd=cwd,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
    )
