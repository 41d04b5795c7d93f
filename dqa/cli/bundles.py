"""Bundles: options that several commands share, declared once as the fields of a class.

A bundle is a dataclass, whose fields are annotated as options, or a `Record`, of whose fields the
options are made: their name, type, bound, default and description.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer
from pydantic.fields import FieldInfo

from dqa.cli.help import DATABASES, LIMITS, MODELS
from dqa.core.records import Record

_Command: TypeAlias = Callable[..., None]
_METAVARS: Mapping[str, str] = {
    "timeout": "SECONDS",
    "patience": "SECONDS",
    "isolation": "WHERE",
    "engine": "NAME",
    "ray_address": "HOST:PORT",
}
_GROUPS: Mapping[str, str] = {
    "record": MODELS,
    "replay": MODELS,
    "patience": DATABASES,
    "audit": DATABASES,
}
_METAVARS_OF: Mapping[object, str | None] = {
    int: "N",
    int | None: "N",
    float: "X",
    float | None: "X",
    Path | None: "FILE",
}


def with_options(**bundles: type[Any]) -> Callable[[_Command], _Command]:
    """Give a command a bundle's options in the place of the parameter of that name.

    Parameters
    ----------
    **bundles
        By parameter a dataclass or a `Record`.
    """
    options = {name: _options_of(bundle) for name, bundle in bundles.items()}

    def given_to(command: _Command) -> _Command:
        signature = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def taking(**given: Any) -> None:  # noqa: ANN401  (whatever the options give)
            made = {
                name: bundle(**{option.name: given[option.name] for option in options[name]})
                for name, bundle in bundles.items()
            }
            alone = {name: given[name] for name in signature.parameters if name not in bundles}
            command(**alone, **made)

        # An option that two bundles have is one option, whose value both get.
        spread = {
            parameter.name: parameter
            for name, declared in signature.parameters.items()
            for parameter in options.get(name, [declared])
        }
        # What Typer reads a command's options from.
        taking.__signature__ = signature.replace(parameters=[*spread.values()])  # type: ignore[attr-defined]
        taking.__annotations__ = {name: one.annotation for name, one in spread.items()}
        return taking

    return given_to


def _options_of(bundle: type[Any]) -> list[inspect.Parameter]:
    if issubclass(bundle, Record):
        return [_option(name, field) for name, field in bundle.model_fields.items()]
    hints = get_type_hints(bundle, include_extras=True)
    return [
        _parameter(
            field.name,
            hints[field.name],
            inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(bundle)
    ]


def _option(name: str, field: FieldInfo) -> inspect.Parameter:
    bounds = (getattr(bound, "ge", None) for bound in field.metadata)
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar=_METAVARS.get(name) or _METAVARS_OF.get(field.annotation),
        min=next((bound for bound in bounds if bound is not None), None),
        help=field.description,
        rich_help_panel=_GROUPS.get(name, LIMITS),
    )
    return _parameter(name, Annotated[field.annotation, option], field.default)


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )
