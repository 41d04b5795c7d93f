"""The JSON Schema of everything that is written for others to read, made from the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dqa import plugins
from dqa.api.databases import DatabaseHealth, LoadedHere
from dqa.api.figures import Evaluation
from dqa.api.questions import ShownQuestion
from dqa.api.stored import StoredRun
from dqa.core.errors import UnknownNameError
from dqa.core.records import Record
from dqa.evaluation.analysis.analyse import Analysis
from dqa.evaluation.annotate import Annotation
from dqa.evaluation.audit import ReleaseAudit
from dqa.evaluation.folders import RunRecord
from dqa.evaluation.results import Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.traces import Trace
from dqa.loaders.generator.manifest import Manifest

_OWN: Mapping[str, type[Record]] = {
    "analysis": Analysis,
    "annotation": Annotation,
    "audit": ReleaseAudit,
    "database_health": DatabaseHealth,
    "evaluation": Evaluation,
    "loaded": LoadedHere,
    "manifest": Manifest,
    "question": ShownQuestion,
    "result": Result,
    "run": RunRecord,
    "shortcut_choices": ShortcutChoices,
    "spec": RunSpec,
    "stored_run": StoredRun,
    "trace": Trace,
}
"""By what a format is called; methods add theirs by the entry point ``dqa.formats``."""


def format_names() -> tuple[str, ...]:
    """Return what there is a JSON Schema of, sorted."""
    return tuple(sorted({*_OWN, *plugins.names("format")}))


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format.

    Raises
    ------
    UnknownNameError
        There is no such format.
    PluginError
        The package that defines it cannot be loaded.
    """
    if name not in format_names():
        raise UnknownNameError("format", name, format_names())
    kind = _OWN[name] if name in _OWN else plugins.format_class(name)
    schema = kind.json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
