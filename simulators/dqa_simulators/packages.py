"""Import optional packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError


def load_package(name: str, purpose: str, extra: str) -> Any:  # noqa: ANN401  (any module)
    """Return a module of an optional package.

    Parameters
    ----------
    name
        The name of the module.
    purpose
        The feature that needs the package. It is the subject of the error message.
    extra
        The extra of this project that installs the package.

    Raises
    ------
    MissingKeyError
        The package, or a package that it needs, is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingKeyError(
            f"{purpose} needs '{error.name or name}', which is not installed. Install it: "
            f"{install_command(extra)}."
        ) from error
