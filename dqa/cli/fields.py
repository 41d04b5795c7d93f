"""Conversion between command-line options and the fields of specs and of run options.

The help, type, bounds and default of an option are those of its field.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from dqa.cli.help import LIMITS
from dqa.cli.options import declared, names_in, pairs_in, parameter
from dqa.core.docstrings import Described, descriptions
from dqa.core.records import Record
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.spec import PARAMETERS, Deciding, RunSpec
from dqa.loaders.custom_question import UserQuestion

_PARTS: Mapping[str, Mapping[str, str]] = {
    "model": {name: name for name in ("base_url", *PARAMETERS)} | {"model": "name"},
    "limits": {"row_limit": "rows", "seconds": "seconds"},
    "display": {name: name for name in ("digits", "samples", "schema_tokens")},
    "budget": {f"max_{name}": name for name in ("seconds", "statements", "rows", "tokens", "cost")},
}
"""For each field of a spec that has parts, the part that each option sets, by the option's name."""
_PATHS = {name: (field, part) for field, parts in _PARTS.items() for name, part in parts.items()}
_PLACEHOLDERS: Mapping[str, str] = {
    "model": "PROVIDER:MODEL",
    "base_url": "URL",
    **dict.fromkeys(("deciders", "databases"), "NAMES"),
    **dict.fromkeys(("max_seconds", "timeout"), "SECONDS"),
    "settings": "NAME=VALUE",
    **dict.fromkeys(("rule_set", "reasoning_effort", "world", "reference"), "NAME"),
    "extra_body": "JSON",
    "scenario": "NAME|DIR",
    "target": "KEY=VALUE",
    **dict.fromkeys(("candidates", "context"), "STATEMENT"),
    "ray_address": "HOST:PORT",
}
_TYPES: Mapping[str, object] = {
    **dict.fromkeys(("deciders", "databases", "extra_body", "world"), str | None),
    **dict.fromkeys(("settings", "target"), list[str] | None),
    **dict.fromkeys(("rules", "policy"), Path | None),
    "candidates": str | None,
}
"""Types of options that differ from the types of their fields."""
_FIELDS = RunSpec.model_fields.keys() | PlaySpec.model_fields.keys()


class SpecFields(NamedTuple):
    """The options of a command that set fields of a spec. `spec_fields` converts their values.

    Attributes
    ----------
    names
        Names of the options.
    spec
        Class of the spec.
    """

    names: tuple[str, ...]
    spec: type[Record] = RunSpec


_DECIDING = (
    *("model", "base_url", "protocol", "seed", "temperature"),
    *PARAMETERS,
    *("reply_tokens", "max_steps", "row_limit", *_PARTS["display"], *_PARTS["budget"], "settings"),
)
DECIDING = SpecFields(_DECIDING)
PLAYING = SpecFields(("world", "games", "mirror", "epochs", "reference", *_DECIDING), PlaySpec)
EVALUATING = SpecFields(
    (
        *("deciders", "epochs", "databases", "policy"),
        *("rule_set", "strict_official", "r_ves"),
        *_DECIDING,
    )
)
ASKED = SpecFields(tuple(UserQuestion.model_fields), UserQuestion)


def given_by(ctx: typer.Context, names: Iterable[str] = ()) -> dict[str, Any]:
    """Return the values of the options on the command line, by the name of the parameter.

    With `names`, return only the values of these parameters.
    """
    return {
        name: ctx.params[name]
        for name in names or ctx.params
        if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }


def options_of(bundle: Any) -> list[inspect.Parameter]:  # noqa: ANN401  (as in `with_options`)
    """Return the options of a `SpecFields`, or an option for each field of a `Record`."""
    if isinstance(bundle, SpecFields):
        return [parameter(name, *spec_option(name, bundle.spec)) for name in bundle.names]
    infos = bundle.model_fields.items()
    return [parameter(name, _annotated(name, info), info.default) for name, info in infos]


def spec_option(name: str, spec: type[Record] = RunSpec) -> tuple[Any, Any]:
    """Return the type annotation and the default of an option that sets a field of `spec`."""
    field, part = _PATHS.get(name, (name, None))
    # A plug-in may have an option that neither its docstring nor a spec describes.
    outer = spec.model_fields.get(field) or FieldInfo(annotation=str)
    default = None if outer.default is PydanticUndefined else outer.default
    if part is None:
        return _annotated(name, outer), None if name in _TYPES or default == () else default
    owner = type(default)
    if issubclass(owner, Record):
        info = owner.model_fields[part]
        text = outer.description if part == "name" else info.description
    else:
        info = FieldInfo.from_annotation(get_type_hints(owner)[part])
        text = descriptions(owner, "Attributes")[part].text
    if default is None:
        return _annotated(name, info, text, info.annotation | None), None  # type: ignore[operator]
    return _annotated(name, info, text), getattr(default, part)


def _annotated(name: str, info: FieldInfo, text: str | None = None, kind: object = None) -> Any:  # noqa: ANN401  (an annotation)
    """Return the type annotation of an option."""
    kind = _TYPES.get(name, kind or info.annotation)
    if kind == tuple[str, ...]:
        kind = list[str] | None
    # An option of a plug-in may be a number, but have the name of a field.
    placeholder = None if kind is int else _PLACEHOLDERS.get(name)
    described = Described(text or info.description or "", placeholder)
    return declared(name, Annotated[kind, "", *info.metadata], described, LIMITS)


def spec_fields(options: Mapping[str, Any], base: Deciding | None = None) -> dict[str, Any]:
    """Convert values of options into fields of a spec.

    Parameters
    ----------
    options
        Values of the options on the command line, by name. Options that do not belong to a spec are
        ignored.
    base
        If an option changes only a part of a field, the rest of the field comes from this spec.
        None stands for a spec with default values.

    Raises
    ------
    UsageError
        A value has the wrong form, or options contradict each other.
    """
    base = base or Deciding()
    parts = {
        field: {inner: options[name] for name, inner in names.items() if name in options}
        for field, names in _PARTS.items()
    }
    found: dict[str, Any] = {}
    for field, part in parts.items():
        if part:
            whole: Any = getattr(base, field)
            is_record = isinstance(whole, Record)
            found[field] = whole.changed(**part) if is_record else replace(whole, **part)
    for name, value in options.items():
        if name == "settings":
            form = "NAME=VALUE (a set of questions: --generated SET)"
            found[name] = pairs_in("--set", value, form)
        elif name in ("deciders", "databases"):
            found[name] = names_in(f"--{name}", value)
        elif name in _FIELDS and name not in _PATHS:
            found[name] = value
    return found
