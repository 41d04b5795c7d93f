"""How a session is opened, as data that can be sent to the process that opens it."""

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
        Where the database is; None for one in memory.
    namespace
        The namespace to open there; None for the one that the location names.
    content
        What a database in memory is to hold: a situation, or a script.
    is_whole
        Whether to open all that a server has, whatever the location names.
    """

    namespaces: str
    location: str | None = None
    namespace: str | None = None
    content: Situation | str | None = None
    is_whole: bool = False

    def open(self) -> Session:
        """Open the session in this process.

        Raises
        ------
        DqaError
            As `dqa.databases.base.Backend.open` says.
        """
        kind = find_named(self.namespaces)
        if self.location is None:
            make = kind.run_script if isinstance(self.content, str) else kind.load_in_memory
            made: Session = make(self.content)
            return made
        with kind.connect(self.location) as namespaces:
            wanted = self.namespace
            if wanted is None and not self.is_whole:
                wanted = namespaces.select()
            opened: Session = namespaces.open(wanted)
        return opened


def find_named(reference: str) -> Any:  # noqa: ANN401  (whatever has that name)
    """Return what ``package.module:Name`` names."""
    module, _, name = reference.partition(":")
    return vars(import_module(module))[name]
