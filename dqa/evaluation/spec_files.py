"""What a run specification is read from: JSON, YAML, a policy's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dqa.core.errors import ParseError, UsageError
from dqa.core.files import parse_json_of, read_text

_NO_LISTS = frozenset({"schema", "schema_scope", "protection"})
"""The fields of a policy that are set when a database is opened."""


def read_document(file: Path | str) -> Mapping[str, Any]:
    """Return the fields that a file of JSON, or of YAML (``.yaml``, ``.yml``), holds.

    Raises
    ------
    UsageError
        It cannot be read, is neither, or holds no fields by name.
    """
    parse = _parse_yaml if Path(file).suffix in {".yaml", ".yml"} else parse_json_of
    try:
        written = parse(str(file), read_text(str(file)))
    except ParseError as error:
        raise UsageError(f"{error}.") from error
    if not isinstance(written, Mapping):
        raise UsageError(
            f"{file} {_what(written)}, and a RunSpec is written as its fields by name: "
            "questions, deciders, model, ..."
        )
    return written


def policy_lists(value: object) -> object:
    """Return a policy, or a file of one, as the lists of names that it is written as."""
    if value is None:
        return None
    from dqa.guard import DEFAULT, Policy

    try:
        if isinstance(value, Path | str):
            value = Policy.read(Path(value))
        elif isinstance(value, Mapping):
            known = [item.name for item in fields(Policy) if item.name not in _NO_LISTS]
            for name in value:
                if name not in known:
                    raise UsageError(
                        f"RunSpec: policy: there is no list '{name}'; there are {', '.join(known)}."
                    )
            value = Policy(**value)
    except TypeError as error:
        raise UsageError(f"RunSpec: policy: give lists of names: {error}.") from error
    if not isinstance(value, Policy):
        return value
    given = {item.name: getattr(value, item.name) for item in fields(Policy)}
    return {
        name: dict(sorted(listed.items())) if isinstance(listed, Mapping) else sorted(listed)
        for name, listed in given.items()
        if name not in _NO_LISTS and listed != getattr(DEFAULT, name)
    }


def _what(written: object) -> str:
    """Return what a file is that holds no object."""
    if written is None:
        return "is empty"
    if isinstance(written, list):
        return "holds a list"
    return f"holds {str(written)[:40]!r} alone"


def _parse_yaml(file: str, text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise ParseError(file, line, f"this is not YAML: {' '.join(str(error).split())}") from error
