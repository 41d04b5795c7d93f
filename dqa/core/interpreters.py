"""Starts every child interpreter of this project; none imports from the current directory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path


def start_python(
    module: str,
    *arguments: str,
    text: bytes = b"",
    environment: Mapping[str, str] = os.environ,
    pass_fds: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """Start a Python that runs `main` of a module, and imports from where this process does.

    Python puts the current directory first on the path of what runs by ``-c`` or ``-m``, so a file
    ``json.py`` there would run instead of Python's own. ``-P`` prevents that, and the path is set
    before the first import. Relative and empty entries, which depend on the current directory, are
    left out of the path and of ``PYTHONPATH``. The folder of the script that the user runs is an
    absolute entry. It stays, as this process imports from it too and the user's classes may be
    there.

    Linear algebra has one thread: several such processes run at once, and a fork copies no thread.
    Output is discarded.

    Parameters
    ----------
    module
        Whose `main` to run.
    *arguments
        What it finds in `sys.argv`, which other users of this machine can see.
    text
        What it finds on standard input.
    environment
        Its environment variables; by default those of this process.
    pass_fds
        The descriptors that it inherits.
    """
    path = ascii(_absolute(map(str, sys.path)))
    inherited = environment.get("PYTHONPATH", "").split(os.pathsep)
    own = {"PYTHONPATH": os.pathsep.join(_absolute(inherited))}
    own |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    code = f"import sys; sys.path[:] = {path}; from {module} import main; main()"
    process = subprocess.Popen(  # noqa: S603  (this very Python, without a shell)
        [sys.executable, "-P", "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=pass_fds,
        env={**environment, **own},
    )
    with suppress(BrokenPipeError):  # it has ended already, which the caller will see
        if process.stdin is not None:
            with process.stdin:
                process.stdin.write(text)
    return process


def describe_exit(code: int | None) -> str:
    """Return how a process ended, by its exit code: the code, or minus the number of a signal."""
    if code is None:
        return "it ended, and its exit code is not known"
    if code >= 0:
        return f"it ended with code {code}"
    return f"it was killed by {name_signal(code)}: {str(signal.strsignal(-code)).lower()}"


def name_signal(code: int) -> str:
    """Return the name of the signal that ended a process, by its exit code; "" for no signal."""
    try:
        return "" if code >= 0 else signal.Signals(-code).name
    except ValueError:  # real-time signals have no names
        return f"signal {-code}"


def _absolute(entries: Iterable[str]) -> list[str]:
    return [entry for entry in entries if Path(entry).is_absolute()]
