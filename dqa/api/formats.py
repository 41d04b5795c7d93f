"""The JSON Schema of everything that is written for others to read, made from the classes."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from dqa import plugins
from dqa.core.errors import UnknownNameError
from dqa.core.records import Record
from dqa.scenarios.document import Part

_OWN: Mapping[str, str] = {
    "analysis": "dqa.evaluation.findings:Analysis",
    "annotation": "dqa.evaluation.annotate:Annotation",
    "audit": "dqa.evaluation.audit:ReleaseAudit",
    "checked_statement": "dqa.api.checking:CheckedStatement",
    "comparison": "dqa.evaluation.statistics.comparing:Comparison",
    "database_health": "dqa.api.databases:DatabaseHealth",
    "evaluation": "dqa.api.figures:Evaluation",
    "exported_decision": "dqa.report.export_rows:ExportedDecision",
    "loaded": "dqa.api.databases:LoadedHere",
    "manifest": "dqa.loaders.generator.manifest:Manifest",
    "own_question": "dqa.loaders.custom_question:OwnQuestion",
    "paper_view": "dqa.evaluation.paper_views:PaperView",
    "proposed_scenario": "dqa.api.proposing:ProposedScenario",
    "question": "dqa.api.questions:ShownQuestion",
    "result": "dqa.evaluation.results:Result",
    "rows": "dqa.api.looking:QueriedRows",
    "run": "dqa.evaluation.record:RunRecord",
    "scenario": "dqa.scenarios.document:ScenarioFile",
    "scenario_check": "dqa.api.scenario_checks:ScenarioCheck",
    "scenario_tables": "dqa.scenarios.document:SharedParts",
    "schema": "dqa.api.looking:ShownSchema",
    "shortcut_choices": "dqa.evaluation.shortcuts:ShortcutChoices",
    "spec": "dqa.evaluation.spec:RunSpec",
    "stored_run": "dqa.api.stored:StoredRun",
    "trace": "dqa.evaluation.traces:Trace",
    "trained_player": "dqa.api.training:TrainedPlayer",
}
"""By what a format is called, where its class is; methods add theirs by entry point
``dqa.formats``. It is imported when it is asked for, since a list of names needs none."""


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
    own = _OWN.get(name)
    kind: type[Record | Part] = resolve_name(own) if own is not None else plugins.format_class(name)
    schema = kind.json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
