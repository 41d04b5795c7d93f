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
    from dqa.api.comparing import compare
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
    from dqa.api.exporting import export_rows, export_run
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
    from dqa.api.measuring import analyse, view_paper, write_audit_page
    from dqa.api.playing import play
    from dqa.api.proposing import ProposedScenario, propose_scenario
    from dqa.api.questions import (
        ShownQuestion,
        read_generated,
        read_questions,
        read_release,
        read_set,
        show,
    )
    from dqa.api.reading import read_run
    from dqa.api.reporting import read_report, write_report
    from dqa.api.runs import Run
    from dqa.api.scenario_checks import ScenarioCheck, check_scenario
    from dqa.api.stored import StoredRun, copy_run, find_runs
    from dqa.api.tables import (
        DescribedTable,
        FoundColumns,
        describe_table,
        find_columns,
        sample_rows,
    )
    from dqa.api.target_values import list_target_values
    from dqa.api.telemetry import export_spans
    from dqa.api.temporary import temporary_database
    from dqa.api.tournaments import Tournament, play_tournament
    from dqa.api.training import TrainedPlayer, train_player, train_players
    from dqa.api.viewing import ReportServer
    from dqa.api.watching import Watcher
    from dqa.core.budgets import DecisionBudget
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
    from dqa.core.review import Review, ReviewAnswer, Reviewer
    from dqa.core.simulator import Outcomes, Simulator
    from dqa.core.situation import Situation
    from dqa.core.truth import Truth
    from dqa.deciders.answers import choice_of
    from dqa.deciders.base import DeciderFactory, Settings
    from dqa.evaluation.annotate import Annotation, annotate
    from dqa.evaluation.audit import ReleaseAudit, audit
    from dqa.evaluation.findings import Analysis
    from dqa.evaluation.observers import observe_decisions
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.play import Played, play_episode
    from dqa.evaluation.playing.metrics import GameFigures, PlayFigures
    from dqa.evaluation.playing.spec import PlaySpec
    from dqa.evaluation.results import Outcome, Result
    from dqa.evaluation.shortcuts import Shortcut, measure_shortcuts
    from dqa.evaluation.spec import Deciding, ModelSpec, RunSpec
    from dqa.evaluation.statistics import Comparison, EpochStatistics, Estimate, Summary
    from dqa.evaluation.traces import Trace
    from dqa.guard import Audit, Policy, check
    from dqa.loaders.candidate_files import read_candidates
    from dqa.loaders.generator.generate import generate_like_release
    from dqa.loaders.generator.manifest import write_generated
    from dqa.loaders.inspection.findings import Finding
    from dqa.loaders.own_question import OwnQuestion
    from dqa.loaders.sources import (
        GeneratedFolder,
        GeneratedQuestions,
        InPlaceFolder,
        NamedSet,
        OwnQuestions,
        ReleaseFolder,
    )
    from dqa.models.conversation import Conversation
    from dqa.report.export_rows import ExportedDecision
    from dqa.report.run_report.records import Report
    from dqa.scenarios.generation import Difficulty, Mix
    from dqa.worlds.world import Episode, Move, World

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
    "Comparison",
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
    "DecisionBudget",
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
    "EpochStatistics",
    "Estimate",
    "Evaluation",
    "Event",
    "Evidence",
    "ExportedDecision",
    "Finding",
    "FoundColumns",
    "GameFigures",
    "GeneratedFolder",
    "GeneratedQuestions",
    "HealthState",
    "InPlaceFolder",
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
    "PlayFigures",
    "PlaySpec",
    "Played",
    "PluginError",
    "Policy",
    "ProposedScenario",
    "QueriedRows",
    "QueryError",
    "Question",
    "QuestionSet",
    "Recorder",
    "ReleaseAudit",
    "ReleaseFolder",
    "Report",
    "ReportServer",
    "Result",
    "Review",
    "ReviewAnswer",
    "Reviewer",
    "Rows",
    "Run",
    "RunCounts",
    "RunOptions",
    "RunSpec",
    "ScenarioCheck",
    "Settings",
    "Shortcut",
    "ShownQuestion",
    "ShownSchema",
    "Simulator",
    "Situation",
    "StatementVerdict",
    "StoredRun",
    "Summary",
    "Tournament",
    "Trace",
    "TrainedPlayer",
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
    "check_scenario",
    "check_script",
    "check_statement",
    "choice_of",
    "compare",
    "copy_run",
    "decision_node",
    "describe_table",
    "evaluate",
    "examine",
    "export_rows",
    "export_run",
    "export_spans",
    "find_columns",
    "find_runs",
    "format_names",
    "generate",
    "generate_like_release",
    "installed",
    "json_schema",
    "langchain_tools",
    "list_deciders",
    "list_target_values",
    "load",
    "loaded",
    "mcp_server",
    "measure_shortcuts",
    "observe_decisions",
    "open_database",
    "play",
    "play_episode",
    "play_tournament",
    "propose_scenario",
    "query",
    "read_candidates",
    "read_generated",
    "read_questions",
    "read_release",
    "read_report",
    "read_run",
    "read_schema",
    "read_set",
    "sample_rows",
    "serve_mcp",
    "settings_of",
    "show",
    "temporary_database",
    "train_player",
    "train_players",
    "unload",
    "view_paper",
    "write_audit_page",
    "write_decision_page",
    "write_generated",
    "write_report",
]

_MODULES = {
    "dqa.core.endings": ("EXPECTED_FAILURES",),
    "dqa.deciders.answers": ("choice_of",),
    "dqa.models.conversation": ("Conversation",),
    "dqa.core.recorder": ("DecisionWatcher", "Recorder"),
    "dqa.core.review": ("Review", "ReviewAnswer", "Reviewer"),
    "dqa.scenarios.generation": ("Difficulty", "Mix"),
    "dqa.api.asking": ("AskedQuestion", "ask", "write_decision_page"),
    "dqa.api.checking": ("CheckedStatement", "check_files", "check_lines", "check_script"),
    "dqa.api.comparing": ("compare",),
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
    "dqa.api.playing": ("play",),
    "dqa.api.tournaments": ("Tournament", "play_tournament"),
    "dqa.evaluation.playing.metrics": ("GameFigures", "PlayFigures"),
    "dqa.evaluation.playing.spec": ("PlaySpec",),
    "dqa.api.exporting": ("export_rows", "export_run"),
    "dqa.report.export_rows": ("ExportedDecision",),
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
    "dqa.api.proposing": ("ProposedScenario", "propose_scenario"),
    "dqa.api.scenario_checks": ("ScenarioCheck", "check_scenario"),
    "dqa.api.target_values": ("list_target_values",),
    "dqa.api.tables": (
        "DescribedTable",
        "FoundColumns",
        "describe_table",
        "find_columns",
        "sample_rows",
    ),
    "dqa.api.listing": ("Entry", "installed", "list_deciders", "settings_of"),
    "dqa.api.measuring": ("analyse", "view_paper", "write_audit_page"),
    "dqa.api.questions": (
        "ShownQuestion",
        "read_generated",
        "read_questions",
        "read_release",
        "read_set",
        "show",
    ),
    "dqa.api.figures": ("Evaluation", "RunCounts"),
    "dqa.api.reporting": ("read_report", "write_report"),
    "dqa.api.reading": ("read_run",),
    "dqa.api.runs": ("Run",),
    "dqa.api.stored": ("StoredRun", "copy_run", "find_runs"),
    "dqa.api.telemetry": ("export_spans",),
    "dqa.api.temporary": ("temporary_database",),
    "dqa.api.training": ("TrainedPlayer", "train_player", "train_players"),
    "dqa.api.viewing": ("ReportServer",),
    "dqa.api.watching": ("Watcher",),
    "dqa.core.budgets": ("DecisionBudget",),
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
    "dqa.worlds.world": ("Episode", "Move", "World"),
    "dqa.deciders.base": ("DeciderFactory", "Settings"),
    "dqa.evaluation.findings": ("Analysis",),
    "dqa.evaluation.annotate": ("Annotation", "annotate"),
    "dqa.evaluation.audit": ("ReleaseAudit", "audit"),
    "dqa.evaluation.shortcuts": ("Shortcut", "measure_shortcuts"),
    "dqa.evaluation.observers": ("observe_decisions",),
    "dqa.evaluation.options": ("CallOptions", "RunOptions"),
    "dqa.evaluation.play": ("Played", "play_episode"),
    "dqa.evaluation.results": ("Outcome", "Result"),
    "dqa.evaluation.spec": ("Deciding", "ModelSpec", "RunSpec"),
    "dqa.evaluation.statistics": ("Comparison", "EpochStatistics", "Estimate", "Summary"),
    "dqa.evaluation.traces": ("Trace",),
    "dqa.guard": ("Audit", "Policy", "check"),
    "dqa.loaders.generator.generate": ("generate_like_release",),
    "dqa.loaders.generator.manifest": ("write_generated",),
    "dqa.report.run_report.records": ("Report",),
    "dqa.loaders.candidate_files": ("read_candidates",),
    "dqa.loaders.inspection.findings": ("Finding",),
    "dqa.loaders.own_question": ("OwnQuestion",),
    "dqa.loaders.sources": (
        "GeneratedFolder",
        "GeneratedQuestions",
        "InPlaceFolder",
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
