"""How to open a session, as data that a worker process receives."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqa.core.session import Session
    from dqa.core.situation import Situation


@dataclass(frozen=True, slots=True)
class Opening:
    """What to open with which class of namespaces.

    Attributes
    ----------
    namespaces
        The subclass of `Namespaces`, as ``package.module:Class``.
    location
        Where the database is; None for memory.
    namespace
        The namespace to open; None for the one that the location names.
    content
        The situation or script for a database in memory.
    is_whole
        Whether to open the whole server, whatever the location names.
    more
        More schemas to show, in lower case, as a policy names them.
    """

    namespaces: str
    location: str | None = None
    namespace: str | None = None
    content: Situation | str | None = None
    is_whole: bool = False
    more: tuple[str, ...] = ()

    def open(self) -> Session:
        """Open the session in this process.

        Raises
        ------
        DqaError
            See `dqa.databases.base.Backend.open`.
        """
        kind = find_named(self.namespaces)
        session: Session
        if self.location is None:
            create = kind.run_script if isinstance(self.content, str) else kind.load_in_memory
            session = create(self.content)
            return session
        with kind.connect(self.location) as namespaces:
            wanted = self.namespace
            if wanted is None and not self.is_whole:
                wanted = namespaces.select()
            if self.more:
                wanted = namespaces.with_schemas(wanted, self.more)
            session = namespaces.open(wanted)
        return session


def find_named(reference: str) -> Any:  # noqa: ANN401  (any object)
    """Return the object that ``package.module:Name`` names."""
    module, _, name = reference.partition(":")
    return vars(import_module(module))[name]
