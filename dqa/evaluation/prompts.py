"""Which prompts deciders have, so that a run says in which words its models were asked.

A method keeps its prompts as files in the folder ``prompts/`` of its package (as ``planrag`` and
``dellma`` do); those are found from where its deciders are made. A decider whose words are
elsewhere has an attribute ``prompts``: a mapping of names to texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeAlias

from dqa.deciders.base import DeciderFactory

Prompts: TypeAlias = Mapping[str, Mapping[str, str]]
"""By decider the texts of its prompts, by name."""

_SUFFIXES = (".md", ".txt", ".jinja", ".j2")


def prompts_of(deciders: Mapping[str, object]) -> Prompts:
    """Return the prompts of deciders, or of the factories that make them.

    Parameters
    ----------
    deciders
        Deciders and factories by name; what asks no model has no prompts.
    """
    found = {name: _prompts_of(decider) for name, decider in deciders.items()}
    return {name: texts for name, texts in found.items() if texts}


def _prompts_of(decider: object) -> Mapping[str, str]:
    told = getattr(decider, "prompts", None)
    if isinstance(told, Mapping):
        return {str(name): str(text) for name, text in sorted(told.items())}
    if isinstance(decider, DeciderFactory):
        if not decider.needs_model:
            return {}
        decider = decider.make
    if isinstance(decider, partial):
        decider = decider.func
    module = getattr(decider, "__module__", type(decider).__module__)
    return _in_package(str(module).partition(".")[0])


@cache
def _in_package(package: str) -> Mapping[str, str]:
    if package == "__main__":  # a program of its own, which may be no module that is found
        return {}
    try:
        folder = files(package) / "prompts"
    except (ImportError, TypeError, ValueError):  # what runs is no package
        return {}
    return dict(sorted(_texts(folder, ""))) if folder.is_dir() else {}


def _texts(folder: Traversable, before: str) -> Iterator[tuple[str, str]]:
    for path in folder.iterdir():
        name = f"{before}{path.name}"
        if path.is_dir():
            yield from _texts(path, f"{name}/")
        elif path.name.endswith(_SUFFIXES):
            yield name, path.read_text("utf-8")
