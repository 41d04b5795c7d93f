"""The classes that the fixtures for databases and servers use."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from dqa.api.databases import Content, temporary_database
from dqa.core.database import Database
from dqa.core.errors import DqaError, UnknownNameError
from dqa.core.files import read_text
from dqa.databases.backends import BUILT_IN
from dqa.testing.containers import SERVERS, run_container


class DatabaseCreator(ExitStack):
    """Creates databases that exist until the test ends (fixture ``dqa_database``).

    Parameters
    ----------
    engine
        Default engine.
    folder
        The folder to which relative paths refer.
    fixture
        Function that returns a fixture by its name. A server starts when its fixture is requested,
        so the fixture is requested only if a test needs the server.
    """

    def __init__(self, engine: str, folder: Path, fixture: Callable[[str], Any]) -> None:
        super().__init__()
        self._engine = engine
        self._folder = folder
        self._fixture = fixture

    def __call__(
        self,
        content: Content,
        *,
        engine: str | None = None,
        **access: Any,  # noqa: ANN401  (as below)
    ) -> Database:
        """Create a database, and open it read-only behind the guard.

        Parameters
        ----------
        content
            Content of the database; see `dqa.temporary_database`. A relative path refers to the
            folder of the test module.
        engine
            Name of the backend. The default is ``--dqa-engine``. A server runs in a container.
        **access
            ``limits``, ``policy`` and ``audit``; see `dqa.temporary_database`.

        Raises
        ------
        DataError, UsageError, MissingKeyError, DatabaseUnavailableError
            See `dqa.temporary_database`.
        """
        __tracebackhide__ = True
        chosen = engine or self._engine
        if isinstance(content, Path):
            content = self._folder / content
        exists = isinstance(content, Path) and content.suffix not in {".sql", ".cypher", ".cql"}
        served = chosen in SERVERS and not exists
        location: str | None = self._fixture("dqa_server")(chosen) if served else None
        try:
            return self.enter_context(temporary_database(content, chosen, location, **access))
        except DqaError as error:  # a traceback through dqa does not help
            raise error.with_traceback(None) from None


class ServerStarter(ExitStack):
    """Starts servers that run until the session ends (fixture ``dqa_server``).

    Parameters
    ----------
    mode
        What to do with a test that needs a container. If no container can run, ``require`` lets the
        test fail, and ``auto`` skips it. ``skip`` always skips the test.

    The environment variable ``DQA_TEST_NAME_URL`` is the URL of a server to use instead of a
    container.
    """

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode
        self._urls: dict[str, str] = {}
        self._last_script: dict[str, str] = {}

    def __call__(self, name: str, seed: str | Path | None = None) -> str:
        """Return the URL of a server. The user in the URL is an administrator.

        Parameters
        ----------
        name
            ``mysql``, ``postgres`` or ``neo4j``.
        seed
            SQL or Cypher script, or the path of its file. The guard does not check the script. If
            the same script was the last to run on this server in this session, it does not run
            again. The script must begin by deleting the data of other scripts and earlier sessions.

        Raises
        ------
        UnknownNameError
            There is no such server.
        DataError
            The server refuses the script.
        """
        __tracebackhide__ = True
        if name not in SERVERS:
            raise UnknownNameError("server", name, SERVERS)
        url = self._url(name)
        script = read_text(seed) if isinstance(seed, Path) else seed
        if script is not None and self._last_script.get(name) != script:
            try:
                resolve_name(BUILT_IN[name].namespaces).run_script(url, script)
            except DqaError as error:  # a traceback could show the URL's password
                raise error.with_traceback(None) from None
            self._last_script[name] = script
        return url

    def _url(self, name: str) -> str:
        __tracebackhide__ = True
        variable = f"DQA_TEST_{name.upper()}_URL"
        if url := os.environ.get(variable):
            return url
        if name not in self._urls:
            if self._mode == "skip":
                pytest.skip(f"no {name} server: --dqa-containers=skip")
            try:
                self._urls[name] = self.enter_context(run_container(name))
            except DqaError as error:
                if self._mode == "auto":
                    pytest.skip(f"no {name} server: {error}")
                pytest.fail(
                    f"No {name} server: {error}\nOr set {variable} to the URL of a server that "
                    "tests may write to, or skip these tests with --dqa-containers=auto.",
                    pytrace=False,
                )
        return self._urls[name]
