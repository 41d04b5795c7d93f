"""Packages, accounts, ports and processes of the Linux machine that runs the servers."""

import contextlib
import fcntl
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM_FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_POLICY = Path("/usr/sbin/policy-rc.d")
"""Debian's hook that can prevent packages from starting services."""


class ServerError(Exception):
    """A server cannot be provided. The message names the reason and a fix."""


def _as_server() -> dict[str, Any]:
    """Return the arguments of `subprocess.Popen` that select the servers' account.

    MariaDB and PostgreSQL refuse to run as root. If the caller is root, the account is ``nobody``.
    Otherwise it is the caller's account.
    """
    if os.geteuid() != 0:
        return {}
    account = pwd.getpwnam("nobody")
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def give(path: Path, mode: int) -> Path:
    """Change the owner of a file or folder to the servers' account, and set its mode."""
    path.chmod(mode)
    if account := _as_server():
        os.chown(path, account["user"], account["group"])
    return path


def give_file(path: Path, text: str) -> Path:
    """Write a file that only the servers' account can read."""
    write_private(path, text)
    return give(path, 0o600)


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder, so that only one command at a time uses it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def free_port() -> int:
    """Return a free port of 127.0.0.1.

    The port is below the ephemeral range, from which the kernel chooses the ports of clients.
    Otherwise, a client could get the port of a stopped server, and the server could not restart.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as candidate, contextlib.suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port


def program(name: str, *folders: Path) -> str | None:
    """Return the file of a program in `folders`, PATH or system folders; None if it is missing."""
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", ""), PROGRAM_FOLDERS])
    return shutil.which(name, path=path)


def run(  # noqa: PLR0913 - all but two have defaults
    command: Sequence[str | Path],
    *,
    what: str,
    home: Path | None = None,
    text: str = "",
    environment: Mapping[str, str] | None = None,
    timeout: float = 120.0,
) -> str:
    """Run a command, and return its output.

    Parameters
    ----------
    command
        Program and arguments. They must not contain secrets, because anyone can list processes.
    what
        The action of the command, for error messages.
    home
        Home folder of a server. The command runs in this folder under the servers' account. None
        for the current folder and the caller's account.
    text
        Standard input of the command. It may contain secrets.
    environment
        Complete environment of the command; None for the caller's environment.
    timeout
        Maximum duration in seconds.

    Raises
    ------
    ServerError
        The command cannot be run, fails, or takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 - commands of ours, no shell
            command,
            cwd=home,
            input=text,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout,
            **(_as_server() if home else {}),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ServerError(f"{what} failed: {error}") from error
    if done.returncode != 0:
        raise ServerError(f"{what} failed ({command[0]}):\n{tail(done.stdout)}")
    return done.stdout


def tail(text: str, lines: int = 15) -> str:
    """Return the last lines of a log, indented."""
    shown = [line for line in text.splitlines() if line.strip()][-lines:]
    return "\n".join(f"  {line}" for line in shown) or "  (the log is empty)"


def install(packages: Sequence[str], why: str) -> None:
    """Install Debian packages without starting their services.

    Raises
    ------
    ServerError
        The machine has no ``apt-get``, the caller is not root, or the installation fails.
    """
    wanted = " ".join(packages)
    if program("apt-get") is None or os.geteuid() != 0:
        raise ServerError(f"{why} is not installed: run 'apt-get install {wanted}' as root")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    options = ["-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=600"]
    has_policy = _POLICY.exists()  # the machine's own policy stays
    if not has_policy:
        _POLICY.write_text("#!/bin/sh\nexit 101\n", encoding="ascii")
        _POLICY.chmod(0o755)
    try:
        run(["apt-get", "-q", "update"], what="apt-get update", environment=environment)
        run(
            ["apt-get", *options, "install", *packages],
            what=f"installing {wanted}",
            environment=environment,
            timeout=900.0,
        )
    finally:
        if not has_policy:
            _POLICY.unlink()


@dataclass(frozen=True)
class Process:
    """A process. Its start time distinguishes it from a later process with the same id."""

    pid: int
    started: int

    @classmethod
    def spawn(cls, command: Sequence[str], folder: Path, log: Path) -> "Process":
        """Start a server in a clean environment. It continues after the caller ends."""
        environment = {"PATH": PROGRAM_FOLDERS, "HOME": str(folder), "LANG": "C.UTF-8"}
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "ab") as output:
            child = subprocess.Popen(  # noqa: S603 - commands of ours, no shell
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                umask=0o077,
                **_as_server(),
            )
        state = _stat(child.pid)
        child.returncode = 0  # prevents a warning: this process does not wait for the server
        return cls(child.pid, int(state[19]) if state else 0)

    def alive(self) -> bool:
        """Return whether the process runs. A zombie does not run."""
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)
        state = _stat(self.pid)
        return state is not None and state[0] not in "ZX" and int(state[19]) == self.started

    def ends(self, timeout: float) -> bool:
        """Wait for the end of the process. Return whether it ended in time."""
        deadline = time.monotonic() + timeout
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def signal(self, number: signal.Signals) -> None:
        """Send a signal if the process still runs."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process and its children."""
        self.signal(signal.SIGSTOP)  # prevents further children
        family = self._family()
        for member in family:
            member.signal(signal.SIGKILL)
        for member in family:
            member.ends(10.0)

    def _family(self) -> list["Process"]:
        """Return the process and its children; an empty list if it does not run."""
        if not self.alive():
            return []
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        states = {pid: state for pid in pids if (state := _stat(pid))}
        own = {pid: state for pid, state in states.items() if state[1] == str(self.pid)}
        return [self, *(Process(pid, int(state[19])) for pid, state in own.items())]


def _stat(pid: int) -> list[str] | None:
    """Return the fields of /proc/PID/stat after the program's name; None if the process ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()
