"""What a run specification is read from: JSON, YAML that names nothing twice, a policy's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dqa.core.errors import UsageError
from dqa.core.files import parse_json, problem_of_path, read_text

_NO_LISTS = frozenset({"schema", "walls", "protection"})
"""What of a policy whoever opens a database sets."""


def read_document(file: Path | str) -> Mapping[str, Any]:
    """Return the fields that a file of JSON, or of YAML (``.yaml``, ``.yml``), holds.

    Raises
    ------
    UsageError
        It cannot be read, is neither, or holds no fields by name.
    """
    try:
        text = read_text(file)
    except OSError as error:
        raise UsageError(f"{problem_of_path(file, error)}.") from error
    except ValueError as error:
        raise UsageError(f"{file} is no UTF-8 text: {error}.") from error
    is_yaml = Path(file).suffix in {".yaml", ".yml"}
    try:
        written = _parse_yaml(text) if is_yaml else parse_json(text)
    except ValueError as error:
        told = " ".join(str(error).split())
        raise UsageError(f"{file} is no {'YAML' if is_yaml else 'JSON'}: {told}.") from error
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


def _parse_yaml(text: str) -> object:
    """Return what YAML of plain data says; `ValueError` where it is none, or names a key twice."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuses a key that is given twice, of which the last would win in silence."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key, _ in node.value:
                if key.value in seen and isinstance(key, yaml.ScalarNode):
                    line = key.start_mark.line + 1
                    raise ValueError(f"line {line} gives '{key.value}' a second time")
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    seen.add(key.value)
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)  # noqa: S506  (a safe one)
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark
        at = "" if place is None else f"line {place.line + 1}, column {place.column + 1}: "
        raise ValueError(f"{at}{error.problem or error}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from error
