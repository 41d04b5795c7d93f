"""The fixtures that make databases, and start servers for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from dqa.api.databases import Content, temporary_database
from dqa.core.database import Database
from dqa.core.errors import DqaError
from dqa.core.files import read_text
from dqa.databases.backends import BUILT_IN
from dqa.testing.containers import SERVERS, run_container, why_no_container


class DatabaseMaker(ExitStack):
    """Makes databases that exist until the test ends (fixture ``dqa_database``).

    Parameters
    ----------
    engine
        The default engine.
    folder
        The base of relative paths.
    fixture
        Returns a fixture by its name; servers are started only where one is needed.
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
        """Make a database and open it read-only, behind the guard.

        Parameters
        ----------
        content
            As `dqa.temporary_database` takes it; a relative path starts at the module's folder.
        engine
            The backend's name; by default ``--dqa-engine``. A server runs in a container.
        **access
            ``limits``, ``policy`` and ``audit``, as `dqa.temporary_database` takes them.

        Raises
        ------
        DataError, UsageError, MissingKeyError, DatabaseUnavailableError
            As `dqa.temporary_database`.
        """
        chosen = engine or self._engine
        if isinstance(content, Path):
            content = self._folder / content
        is_there = isinstance(content, Path) and content.suffix not in {".sql", ".cypher", ".cql"}
        served = chosen in SERVERS and not is_there
        location: str | None = self._fixture("dqa_server")(chosen) if served else None
        return self.enter_context(temporary_database(content, chosen, location, **access))


class ServerStarter(ExitStack):
    """Starts servers that run until the session ends (fixture ``dqa_server``).

    Parameters
    ----------
    mode
        What happens where no container can run: ``require`` fails, ``auto`` skips; ``skip`` starts
        none anywhere.
    environment
        Where ``DQA_TEST_NAME_URL`` may name a server to use in place of a container.
    """

    def __init__(self, mode: str, environment: Mapping[str, str] = os.environ) -> None:
        super().__init__()
        self._mode = mode
        self._environment = environment
        self._urls: dict[str, str] = {}
        self._seeded: set[tuple[str, str]] = set()

    def __call__(self, name: str, seed: str | Path | None = None) -> str:
        """Return the URL of a server, whose user may do everything on it.

        Parameters
        ----------
        name
            ``mysql``, ``postgres`` or ``neo4j``.
        seed
            A script of SQL or Cypher, or its file, which runs on the server once per session; it is
            the caller's own and not guarded.

        Raises
        ------
        DataError
            The server refuses the script.
        """
        __tracebackhide__ = True
        url = self._url(name)
        if seed is not None:
            script = read_text(seed) if isinstance(seed, Path) else seed
            if (name, script) not in self._seeded:
                resolve_name(BUILT_IN[name].namespaces).run_script(url, script)
                self._seeded.add((name, script))
        return url

    def _url(self, name: str) -> str:
        __tracebackhide__ = True
        variable = f"DQA_TEST_{name.upper()}_URL"
        given = self._environment.get(variable)
        if given:
            return given
        if name not in self._urls:
            self._skip_unless_it_may_run(name)
            problem = None
            try:
                self._urls[name] = self.enter_context(run_container(name))
            except DqaError as error:
                problem = str(error)
            if problem is not None:  # here, so that a report shows this message alone
                pytest.fail(
                    f"No {name} server: {problem}\nOr name a server that tests may write to in "
                    f"{variable}, or skip such tests by --dqa-containers=auto.",
                    pytrace=False,
                )
        return self._urls[name]

    def _skip_unless_it_may_run(self, name: str) -> None:
        if self._mode == "skip":
            pytest.skip(f"no {name} server: --dqa-containers=skip")
        if self._mode == "auto":
            why = why_no_container(name)
            if why is not None:
                pytest.skip(f"no {name} server: {why}")
