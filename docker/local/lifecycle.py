"""Start, stop and record one temporary server."""

import json
import os
import secrets
import shutil
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engines import ENGINES, LOG, Site
from machine import (
    Process,
    ServerError,
    free_port,
    give,
    run,
    server_account,
    tail,
    write_private,
)

_RECORD = "server.json"


def default_state() -> Path:
    """Return the default state folder of this user, in the folder for temporary files."""
    return Path(tempfile.gettempdir()) / f"dqa-servers-{os.geteuid()}"


def open_state(folder: Path) -> Path:
    """Create a missing state folder, and check that no other user can write to it.

    Raises
    ------
    ServerError
        The folder cannot be created, or another user owns it or can write to it.
    """
    folder = folder.absolute()
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            folder.chmod(0o711)
        status = folder.stat()
    except OSError as error:
        raise ServerError(f"cannot use the state folder {folder}: {error.strerror}") from error
    if status.st_uid != os.geteuid() or status.st_mode & 0o022 or folder.is_symlink():
        raise ServerError(
            f"the state folder {folder} must belong to you, and others must not be able to write "
            "to it: choose another folder with --state"
        )
    return folder


class Server:
    """A server of one kind in a state folder.

    Parameters
    ----------
    name
        Name of the server in ``ENGINES``.
    state
        State folder from `open_state`.
    timeout
        Maximum number of seconds until the server answers, and until it has stopped.
    """

    def __init__(self, name: str, state: Path, timeout: float) -> None:
        self.name = name
        self.engine = ENGINES[name]
        self._folder = state / f"dqa-{name}"
        self._timeout = timeout

    @property
    def created(self) -> bool:
        """Whether the server's data exist."""
        return (self._folder / _RECORD).exists()

    @property
    def running(self) -> bool:
        """Whether the server's process runs."""
        return self.created and self._process().alive()

    @property
    def url(self) -> str:
        """The URL with the user and the password."""
        return self.engine.url(self._site())

    def describe(self) -> dict[str, object]:
        """Return the state, the port, the process id and the log, but no password."""
        if not self.created:
            return {"state": "absent"}
        site, state = self._site(), "running" if self.running else "stopped"
        return {"state": state, "port": site.port, "pid": self._process().pid, "log": site.log}

    def start(self) -> None:
        """Create and start the server; do nothing if it already runs.

        Raises
        ------
        ServerError
            The server is down but has data, or it cannot be started.
        """
        if self.running:
            return
        if self.created:
            raise ServerError(
                f"{self.name} is down, but its data still exist: "
                f"'restart {self.name}' uses them again, 'stop {self.name}' discards them"
            )
        self._discard()  # removes files of an interrupted start
        site = Site(self._folder, free_port(), secrets.token_hex(16))
        try:
            self._make_home(site)
            self.engine.create(site)
            self._launch(site)
        except BaseException:
            self._discard()
            raise

    def restart(self) -> None:
        """Stop the server if it runs, and start it again with the same data, port and password."""
        self._halt()
        self.engine.clear(self._site())
        self._launch(self._site())

    def kill(self) -> None:
        """Kill the server without a shutdown. Its data remain for `restart`."""
        self._process().kill()

    def pause(self) -> None:
        """Freeze the server until `resume`. It does not answer, but its connections stay open."""
        self._process().pause()

    def resume(self) -> None:
        """Resume the server after `pause`."""
        self._process().resume()

    def stop(self) -> None:
        """Shut the server down, and discard its data and password."""
        if self.created:
            self._halt()
        self._discard()

    def _make_home(self, site: Site) -> None:
        self._folder.mkdir()
        self._folder.chmod(0o711)  # the servers' account can enter the folder, but not list it
        site.home.mkdir()
        give(site.home, 0o700)
        if server_account():
            what = f"entering {site.home} as 'nobody' (choose an accessible folder with --state)"
            run(["test", "-x", site.home / "."], what=what, as_server=True)

    def _launch(self, site: Site) -> None:
        """Start the process, record it, and wait until the server answers."""
        site.log.unlink(missing_ok=True)  # `Neo4j.answers` reads the log of this start only
        process = Process.spawn(self.engine.command(site), site.home, site.log)
        record = {"port": site.port, "password": site.password, **asdict(process)}
        write_private(self._folder / _RECORD, json.dumps(record))
        try:
            self._await_answer(site, process)
        except BaseException:
            process.kill()
            raise

    def _await_answer(self, site: Site, process: Process) -> None:
        deadline = time.monotonic() + self._timeout
        while not self.engine.answers(site):
            if not process.alive():
                raise self._failed("ended while starting")
            if time.monotonic() > deadline:
                raise self._failed(f"did not answer within {self._timeout:.0f} s")
            time.sleep(0.1)

    def _halt(self) -> None:
        process = self._process()
        process.signal(self.engine.stop_signal)
        if not process.ends(self._timeout):
            process.kill()
            raise self._failed(f"did not stop within {self._timeout:.0f} s and was killed")

    def _discard(self) -> None:
        if not self._folder.exists():
            return
        foreign = {entry.name for entry in self._folder.iterdir()} - {"home", _RECORD, LOG}
        if foreign:
            raise ServerError(
                f"{self._folder} contains {min(foreign)!r}, which does not belong to a server, so "
                "the folder is not deleted: choose another folder with --state"
            )
        shutil.rmtree(self._folder)

    def _failed(self, problem: str) -> ServerError:
        """Return an error with the end of the log."""
        log = (self._folder / LOG).read_text(encoding="utf-8", errors="replace")
        return ServerError(f"{self.name} {problem}:\n{tail(log)}")

    def _site(self) -> Site:
        record = self._load()
        return Site(self._folder, record["port"], record["password"])

    def _process(self) -> Process:
        record = self._load()
        return Process(record["pid"], record["started"])

    def _load(self) -> dict[str, Any]:
        try:
            text = (self._folder / _RECORD).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ServerError(f"{self.name} does not exist: run 'start {self.name}'") from None
        record: dict[str, Any] = json.loads(text)
        return record
