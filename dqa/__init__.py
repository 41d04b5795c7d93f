"""Decision QA: the best decision for a question, business rules and a database.

Everything below is public and documented; nothing else is, but the contracts of plug-ins that
docs/extending.md names. It is imported when it is used, so
``import dqa`` costs nothing.

Evaluate deciders on generated questions, or on a release::

    import dqa

    run = dqa.evaluate(dqa.generate(count=5), ["planrag", "first"], databases=["sqlite"])
    print(run.report())

Ask your own database, in your own words::

    import dqa

    decision = dqa.ask("shop.db", dqa.AskedQuestion(
        question="Which supplier do we drop?", candidates="SELECT name FROM supplier",
    ), model="openai:gpt-5")
    print(decision.choice, [asked.statement for asked in decision.evidence])

Open a database, read-only and behind the guard::

    import dqa

    database = dqa.open_database("shop.db", limits=dqa.Limits(rows=20))
    print(database.query("SELECT name FROM supplier").to_text())

Read a run that was written down::

    import dqa

    run = dqa.read_run("runs/first")
    print(run.report(), [result.choice for result in run.find(wrong=True)])

What is evaluated is data, too: a `RunSpec` can be written, read, compared, and built in another
process (``dqa.evaluate(dqa.RunSpec.read("spec.json"))``).
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from dqa.api.agent_tools import AgentTool, agent_tools
    from dqa.api.asking import AskedQuestion, ask, write_decision_page
    from dqa.api.checking import CheckedStatement, check_files, check_lines, check_script
    from dqa.api.databases import (
        DatabaseHealth,
        HealthState,
        LoadedHere,
        examine,
        load,
        loaded,
        open_database,
        unload,
    )
    from dqa.api.deciding import Decided, Decisions
    from dqa.api.evaluating import evaluate
    from dqa.api.figures import Evaluation, RunCounts
    from dqa.api.formats import format_names, json_schema
    from dqa.api.generating import generate
    from dqa.api.langchain_agents import decision_node, langchain_tools
    from dqa.api.listing import Entry, installed, list_deciders, settings_of
    from dqa.api.looking import (
        QueriedRows,
        ShownSchema,
        StatementVerdict,
        check_statement,
        query,
        read_schema,
    )
    from dqa.api.mcp_server import mcp_server, serve_mcp
    from dqa.api.measuring import analyse, write_audit_page
    from dqa.api.questions import (
        ShownQuestion,
        read_generated,
        read_questions,
        read_release,
        read_set,
        show,
    )
    from dqa.api.runs import Run, read_run
    from dqa.api.stored import StoredRun, find_runs
    from dqa.api.tables import DescribedTable, describe_table, sample_rows
    from dqa.api.temporary import temporary_database
    from dqa.api.watching import Watcher
    from dqa.core.database import Database, Limits, Rows
    from dqa.core.decider import Decider, UpperBound
    from dqa.core.decision import Decision, Ending, Usage
    from dqa.core.display import Display
    from dqa.core.endings import EXPECTED_FAILURES
    from dqa.core.errors import (
        CrashError,
        DataError,
        DqaError,
        InfrastructureError,
        PluginError,
        QueryError,
        UsageError,
    )
    from dqa.core.events import Event
    from dqa.core.evidence import Evidence
    from dqa.core.examination import Advice
    from dqa.core.question import Candidate, Question
    from dqa.core.question_set import Defect, QuestionSet
    from dqa.core.recorder import DecisionWatcher, Recorder
    from dqa.core.simulator import Outcomes, Simulator
    from dqa.core.situation import Situation
    from dqa.core.truth import Truth
    from dqa.core.world import Episode, Move, World
    from dqa.deciders.answers import choice_of
    from dqa.deciders.base import DeciderFactory, Settings
    from dqa.evaluation.analysis.analyse import Analysis
    from dqa.evaluation.annotate import Annotation, annotate
    from dqa.evaluation.audit import ReleaseAudit, audit
    from dqa.evaluation.observers import observe_decisions
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.play import Played, play_episode
    from dqa.evaluation.results import Outcome, Result
    from dqa.evaluation.shortcuts import Shortcut, measure_shortcuts
    from dqa.evaluation.spec import Deciding, ModelSpec, RunSpec
    from dqa.evaluation.stats import Summary
    from dqa.evaluation.traces import Trace
    from dqa.guard import Audit, Policy, check
    from dqa.loaders.candidate_files import read_candidates
    from dqa.loaders.generator.generate import generate_like_release
    from dqa.loaders.generator.manifest import write_generated
    from dqa.loaders.own_question import OwnQuestion
    from dqa.loaders.sources import (
        GeneratedFolder,
        GeneratedQuestions,
        NamedSet,
        OwnQuestions,
        ReleaseFolder,
    )
    from dqa.models.conversation import Conversation
    from dqa.scenarios.generation import Difficulty, Mix

__all__ = [
    "EXPECTED_FAILURES",
    "Advice",
    "AgentTool",
    "Analysis",
    "Annotation",
    "AskedQuestion",
    "Audit",
    "CallOptions",
    "Candidate",
    "CheckedStatement",
    "Conversation",
    "CrashError",
    "DataError",
    "Database",
    "DatabaseHealth",
    "Decided",
    "Decider",
    "DeciderFactory",
    "Deciding",
    "Decision",
    "DecisionWatcher",
    "Decisions",
    "Defect",
    "DescribedTable",
    "Difficulty",
    "Display",
    "DqaError",
    "Ending",
    "Entry",
    "Episode",
    "Evaluation",
    "Event",
    "Evidence",
    "GeneratedFolder",
    "GeneratedQuestions",
    "HealthState",
    "InfrastructureError",
    "Limits",
    "LoadedHere",
    "Mix",
    "ModelSpec",
    "Move",
    "NamedSet",
    "Outcome",
    "Outcomes",
    "OwnQuestion",
    "OwnQuestions",
    "Played",
    "PluginError",
    "Policy",
    "QueriedRows",
    "QueryError",
    "Question",
    "QuestionSet",
    "Recorder",
    "ReleaseAudit",
    "ReleaseFolder",
    "Result",
    "Rows",
    "Run",
    "RunCounts",
    "RunOptions",
    "RunSpec",
    "Settings",
    "Shortcut",
    "ShownQuestion",
    "ShownSchema",
    "Simulator",
    "Situation",
    "StatementVerdict",
    "StoredRun",
    "Summary",
    "Trace",
    "Truth",
    "UpperBound",
    "Usage",
    "UsageError",
    "Watcher",
    "World",
    "agent_tools",
    "analyse",
    "annotate",
    "ask",
    "audit",
    "check",
    "check_files",
    "check_lines",
    "check_script",
    "check_statement",
    "choice_of",
    "decision_node",
    "describe_table",
    "evaluate",
    "examine",
    "find_runs",
    "format_names",
    "generate",
    "generate_like_release",
    "installed",
    "json_schema",
    "langchain_tools",
    "list_deciders",
    "load",
    "loaded",
    "mcp_server",
    "measure_shortcuts",
    "observe_decisions",
    "open_database",
    "play_episode",
    "query",
    "read_candidates",
    "read_generated",
    "read_questions",
    "read_release",
    "read_run",
    "read_schema",
    "read_set",
    "sample_rows",
    "serve_mcp",
    "settings_of",
    "show",
    "temporary_database",
    "unload",
    "write_audit_page",
    "write_decision_page",
    "write_generated",
]

_MODULES = {
    "dqa.core.endings": ("EXPECTED_FAILURES",),
    "dqa.deciders.answers": ("choice_of",),
    "dqa.models.conversation": ("Conversation",),
    "dqa.core.recorder": ("DecisionWatcher", "Recorder"),
    "dqa.scenarios.generation": ("Difficulty", "Mix"),
    "dqa.api.asking": ("AskedQuestion", "ask", "write_decision_page"),
    "dqa.api.checking": ("CheckedStatement", "check_files", "check_lines", "check_script"),
    "dqa.api.databases": (
        "DatabaseHealth",
        "HealthState",
        "LoadedHere",
        "examine",
        "load",
        "loaded",
        "open_database",
        "unload",
    ),
    "dqa.api.evaluating": ("evaluate",),
    "dqa.api.generating": ("generate",),
    "dqa.api.formats": ("format_names", "json_schema"),
    "dqa.api.looking": (
        "QueriedRows",
        "ShownSchema",
        "StatementVerdict",
        "check_statement",
        "query",
        "read_schema",
    ),
    "dqa.api.agent_tools": ("AgentTool", "agent_tools"),
    "dqa.api.deciding": ("Decided", "Decisions"),
    "dqa.api.langchain_agents": ("decision_node", "langchain_tools"),
    "dqa.api.mcp_server": ("mcp_server", "serve_mcp"),
    "dqa.api.tables": ("DescribedTable", "describe_table", "sample_rows"),
    "dqa.api.listing": ("Entry", "installed", "list_deciders", "settings_of"),
    "dqa.api.measuring": ("analyse", "write_audit_page"),
    "dqa.api.questions": (
        "ShownQuestion",
        "read_generated",
        "read_questions",
        "read_release",
        "read_set",
        "show",
    ),
    "dqa.api.figures": ("Evaluation", "RunCounts"),
    "dqa.api.runs": ("Run", "read_run"),
    "dqa.api.stored": ("StoredRun", "find_runs"),
    "dqa.api.temporary": ("temporary_database",),
    "dqa.api.watching": ("Watcher",),
    "dqa.core.database": ("Database", "Limits", "Rows"),
    "dqa.core.examination": ("Advice",),
    "dqa.core.decider": ("Decider", "UpperBound"),
    "dqa.core.decision": ("Decision", "Ending", "Usage"),
    "dqa.core.display": ("Display",),
    "dqa.core.errors": (
        "CrashError",
        "DataError",
        "DqaError",
        "InfrastructureError",
        "PluginError",
        "QueryError",
        "UsageError",
    ),
    "dqa.core.events": ("Event",),
    "dqa.core.evidence": ("Evidence",),
    "dqa.core.question": ("Candidate", "Question"),
    "dqa.core.question_set": ("Defect", "QuestionSet"),
    "dqa.core.simulator": ("Outcomes", "Simulator"),
    "dqa.core.situation": ("Situation",),
    "dqa.core.truth": ("Truth",),
    "dqa.core.world": ("Episode", "Move", "World"),
    "dqa.deciders.base": ("DeciderFactory", "Settings"),
    "dqa.evaluation.analysis.analyse": ("Analysis",),
    "dqa.evaluation.annotate": ("Annotation", "annotate"),
    "dqa.evaluation.audit": ("ReleaseAudit", "audit"),
    "dqa.evaluation.shortcuts": ("Shortcut", "measure_shortcuts"),
    "dqa.evaluation.observers": ("observe_decisions",),
    "dqa.evaluation.options": ("CallOptions", "RunOptions"),
    "dqa.evaluation.play": ("Played", "play_episode"),
    "dqa.evaluation.results": ("Outcome", "Result"),
    "dqa.evaluation.spec": ("Deciding", "ModelSpec", "RunSpec"),
    "dqa.evaluation.stats": ("Summary",),
    "dqa.evaluation.traces": ("Trace",),
    "dqa.guard": ("Audit", "Policy", "check"),
    "dqa.loaders.generator.generate": ("generate_like_release",),
    "dqa.loaders.generator.manifest": ("write_generated",),
    "dqa.loaders.candidate_files": ("read_candidates",),
    "dqa.loaders.own_question": ("OwnQuestion",),
    "dqa.loaders.sources": (
        "GeneratedFolder",
        "GeneratedQuestions",
        "NamedSet",
        "OwnQuestions",
        "ReleaseFolder",
    ),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}


if not TYPE_CHECKING:  # else any name would be there for type checkers

    def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever is public)
        if name not in _WHERE:
            raise AttributeError(f"module 'dqa' has no attribute '{name}'")
        return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
