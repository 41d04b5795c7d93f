"""Bundles: options that several commands share, declared once as the fields of a dataclass."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeAlias, get_type_hints

__all__ = ["takes"]

_Command: TypeAlias = Callable[..., None]


def takes(**bundles: type[Any]) -> Callable[[_Command], _Command]:
    """Give a command a bundle's options in the place of the parameter of that name.

    Parameters
    ----------
    **bundles
        By parameter a dataclass, whose fields are annotated as options.
    """
    options = {name: _options_of(bundle) for name, bundle in bundles.items()}

    def given_to(command: _Command) -> _Command:
        signature = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def taking(**given: Any) -> None:  # noqa: ANN401  (whatever the options give)
            made = {
                name: bundle(**{option.name: given.pop(option.name) for option in options[name]})
                for name, bundle in bundles.items()
            }
            command(**given, **made)

        spread = [
            parameter
            for name, declared in signature.parameters.items()
            for parameter in options.get(name, [declared])
        ]
        # What Typer reads a command's options from.
        taking.__signature__ = signature.replace(parameters=spread)  # type: ignore[attr-defined]
        taking.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
        return taking

    return given_to


def _options_of(bundle: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(bundle)
    ]
