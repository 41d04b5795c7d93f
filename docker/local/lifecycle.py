"""Start, stop and record one temporary server."""

import json
import os
import secrets
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engines import ENGINES, Site
from machine import Process, ServerError, free_port, give, tail, write_private

_RECORD = "server.json"


def open_state(folder: Path) -> Path:
    """Create the state folder if it is missing, and check that no other user can write to it.

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
    except OSError as error:
        raise ServerError(f"cannot use the state folder {folder}: {error.strerror}") from error
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022 or folder.is_symlink():
        raise ServerError(f"others may write to {folder}: choose another --state folder")
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
        site = self._site()
        return self.engine.url.format(password=site.password, port=site.port)

    def start(self) -> None:
        """Create and start the server, or start it again; do nothing if it already runs."""
        if self.created:
            if not self.running:
                self.restart()
            return
        self._discard()  # files of an interrupted start
        site = Site(self._folder, free_port(), secrets.token_hex(16))
        try:
            self._folder.mkdir()
            self._folder.chmod(0o711)  # the servers' account can enter the folder, but not list it
            site.home.mkdir()
            give(site.home, 0o700)
            self.engine.create(site)
            self._launch(site)
        except BaseException:
            self.stop()
            raise

    def restart(self) -> None:
        """Stop the server if it runs, and start it again with the same data, port and password."""
        self._halt()
        site = self._site()
        # PostgreSQL does not remove its lock file if the killed process remains as a zombie.
        (site.home / "data" / "postmaster.pid").unlink(missing_ok=True)
        self._launch(site)

    def kill(self) -> None:
        """Kill the server without a shutdown. Its data remain for `restart`."""
        self._process().kill()

    def stop(self) -> None:
        """Shut the server down, and discard its data and password."""
        if self.created:
            self._halt()
        self._discard()

    def _launch(self, site: Site) -> None:
        """Start the process, record it, and wait until the server answers."""
        site.log.unlink(missing_ok=True)  # the log must contain only this start
        process = Process.spawn(self.engine.command(site), site.home, site.log)
        record = {"port": site.port, "password": site.password, **asdict(process)}
        write_private(self._folder / _RECORD, json.dumps(record))
        deadline = time.monotonic() + self._timeout
        while self.engine.ready not in site.log.read_text(encoding="utf-8", errors="replace"):
            late = time.monotonic() > deadline
            if late or not process.alive():
                process.kill()
                why = f"did not answer within {self._timeout:.0f} s" if late else "ended early"
                raise self._failed(why)
            time.sleep(0.1)

    def _halt(self) -> None:
        process = self._process()
        process.signal(self.engine.stop_signal)
        if not process.ends(self._timeout):
            process.kill()
            raise self._failed(f"did not stop within {self._timeout:.0f} s and was killed")

    def _discard(self) -> None:
        if self._folder.exists():
            shutil.rmtree(self._folder)

    def _failed(self, problem: str) -> ServerError:
        """Return an error with the end of the log."""
        log = self._site().log.read_text(encoding="utf-8", errors="replace")
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
