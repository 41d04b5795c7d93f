"""``dqa eval``: let deciders decide questions on databases, and score every decision."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.asking import Asking, model_line
from dqa.cli.bundles import takes
from dqa.cli.calling import Calling
from dqa.cli.output import echo_json, echo_table, report_defects
from dqa.cli.progress import progress
from dqa.cli.targets import label_of, targets_of
from dqa.core.decider import UpperBound
from dqa.core.errors import BudgetSpentError, UsageError

if TYPE_CHECKING:
    from dqa.core.decider import Decider
    from dqa.core.question_set import QuestionSet
    from dqa.evaluation.examples import OtherQuestions
    from dqa.evaluation.plan import Setup
    from dqa.evaluation.score import Result
    from dqa.evaluation.stats import Summary
    from dqa.evaluation.store import RunStore
    from dqa.models.budget import Prices

__all__ = ["evaluate"]

_PACKAGES = (
    "dqa",
    "ladybug",
    "langchain-core",
    "langchain-openai",
    "langgraph",
    "numpy",
    "sqlalchemy",
    "sqlglot",
)
_INTERRUPTED = 130


@takes(asking=Asking, calling=Calling)
def evaluate(  # noqa: PLR0913  (one parameter an option)
    *,
    deciders: Annotated[
        str, typer.Option("--deciders", metavar="NAMES", help="Deciders, separated by commas.")
    ] = "singlerag,iterrag,planrag,planrag-no-replan",
    scenarios: options.AnyScenarios = None,
    databases: Annotated[
        str,
        typer.Option(
            "--databases",
            metavar="NAMES",
            help="Databases, separated by commas: embedded ones by name, servers by URL, or by "
            "name with the URL in DQA_NAME_URL.",
        ),
    ] = "sqlite,ladybug",
    asking: Asking,
    calling: Calling,
    release: options.Release = None,
    generated: options.Generated = None,
    generate: options.Generate = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Most questions of each scenario."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="New folder for results, traces and settings."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, with the same settings.")
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, help="Threads that decide.")
    ] = 4,
    patience: Annotated[
        float,
        typer.Option(
            "--patience",
            metavar="SECONDS",
            min=0.0,
            help="How long to wait for a database that went away.",
        ),
    ] = 60.0,
    rules: options.Rules = None,
    strict_official: Annotated[
        bool, typer.Option("--strict-official", help="Only the official answer counts, no tie.")
    ] = False,
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Let deciders decide questions on databases, and print how often each was right."""
    from dqa.evaluation.examples import OtherQuestions

    if resume and out is None:
        raise UsageError("--resume goes on with a run in a folder: name it with --out.")
    names = None if scenarios is None else options.names_in("--scenarios", scenarios)
    source = options.Source(release, generated, generate, asking.seed, names, limit, strict=strict)
    request = _Request(
        source=source,
        asking=asking,
        deciders=options.names_in("--deciders", deciders),
        databases=options.names_in("--databases", databases),
        rules=rules or source.rules,
        strict_official=strict_official,
    )
    keeping = _Keeping(out, resume)
    with contextlib.closing(OtherQuestions()) as examples:
        setup = request.setup(calling, keeping, examples, verbose=verbose)
        results = _run(request, setup, keeping, workers, patience)
    if as_json:
        echo_json(_as_json(request, setup, results, out, calling.prices))
    else:
        _report(request, setup, results, out, calling.prices)
    _complain(results)
    _stopped_by_budget(results, setup.size, out)


@dataclass(frozen=True, slots=True)
class _Request:
    """Everything that the results of a run depend on."""

    source: options.Source
    asking: Asking
    deciders: tuple[str, ...]
    databases: tuple[str, ...]
    rules: str
    strict_official: bool

    def setup(
        self, calling: Calling, keeping: _Keeping, examples: OtherQuestions, *, verbose: bool
    ) -> Setup:
        """Look every name up, then read the questions: a wrong name costs no reading."""
        from dqa.evaluation.plan import Setup

        resumed = keeping.out if keeping.resume else None
        deciders, models = self.asking.deciders(
            self.deciders, calling, resumed, self.rules, examples
        )
        targets = targets_of(self.databases)
        questions = self.source.read()
        examples.take(questions)
        deciders = {
            name: made.told(questions.truths) if isinstance(made, UpperBound) else made
            for name, made in deciders.items()
        }
        _check(questions, deciders.values())
        report_defects(questions.defects, verbose)
        return Setup(questions, targets, deciders, models)

    def scenarios(self, questions: QuestionSet) -> tuple[str, ...]:
        """Return the scenarios in the order in which they were named, or come."""
        found = dict.fromkeys(question.scenario for question in questions.questions)
        return self.source.scenarios or tuple(found)

    def settings(self, questions: QuestionSet) -> dict[str, Any]:
        """Return what a run that goes on has to share with its beginning."""
        return {
            "questions": questions.content_hash,
            "scenarios": self.scenarios(questions),
            "limit": self.source.limit,
            "generate": self.source.generate,
            "deciders": self.deciders,
            "databases": [label_of(name) for name in self.databases],
            **asdict(self.asking),
            "rules": self.rules,
            "strict_official": self.strict_official,
        }


def _check(questions: QuestionSet, deciders: Iterable[Decider]) -> None:
    """Let deciders refuse scenarios that they could never decide, before anything is asked."""
    first = {question.scenario: question for question in reversed(questions.questions)}
    for decider in deciders:
        for question in first.values():
            decider.check(question)


@dataclass(frozen=True, slots=True)
class _Keeping:
    """Where results are kept, and whether a run that is there already goes on."""

    out: Path | None
    resume: bool


def _run(
    request: _Request, setup: Setup, keeping: _Keeping, workers: int, patience: float
) -> tuple[Result, ...]:
    from dqa.evaluation.plan import Pace
    from dqa.evaluation.run import evaluate
    from dqa.evaluation.score import Judge
    from dqa.evaluation.store import RunStore

    judge = Judge(setup.questions, request.rules, request.strict_official)
    record = {
        "release": request.source.release and str(request.source.release),
        "generated": request.source.generated and str(request.source.generated),
        "workers": workers,
        "versions": _versions(),
    }
    store = RunStore(keeping.out, request.settings(setup.questions), record, keeping.resume)
    try:
        with progress(setup.size, len(store.results)) as advance:
            return evaluate(setup, judge, store, Pace(workers, patience), advance)
    except KeyboardInterrupt:
        _leave(store, setup.size)
        raise
    except UsageError:
        store.discard()
        raise


def _leave(store: RunStore, total: int) -> None:
    """Say how an interrupted run can go on, and end it even where a reply is still awaited."""
    made = f"Interrupted: {len(store.results)} of {total} decisions were made"
    if store.folder is None:
        typer.echo(f"{made} and are lost; --out DIR would have kept them.", err=True)
    else:
        typer.echo(
            f"{made} and are kept in {store.folder}. The same command with --resume goes on.",
            err=True,
        )
    if any(thread.name.startswith("dqa-worker") for thread in threading.enumerate()):
        # A worker inside a driver's native code may crash an orderly shutdown of the interpreter.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_INTERRUPTED)


def _summaries(request: _Request, setup: Setup, results: tuple[Result, ...]) -> list[Summary]:
    """Return the summaries in the order in which things were named."""
    from dqa.evaluation.stats import summarise

    order = {name: place for place, name in enumerate(request.deciders)}
    databases = [label_of(name) for name in request.databases]
    scenarios = request.scenarios(setup.questions)
    return sorted(
        summarise(results),
        key=lambda s: (
            scenarios.index(s.scenario),
            databases.index(s.database),
            order[s.decider],
        ),
    )


def _as_json(
    request: _Request,
    setup: Setup,
    results: tuple[Result, ...],
    out: Path | None,
    prices: Prices | None,
) -> dict[str, Any]:
    from dqa.models.registry import is_scripted
    from dqa.report.tables import spending

    return {
        "model": request.asking.model,
        "models": dict(setup.models),
        "scripted": any(is_scripted(model) for model in setup.models.values()),
        "rules": request.rules,
        "strict_official": request.strict_official,
        "out": out and str(out),
        "spent": spending(results, prices),
        "results": [summary.to_json() for summary in _summaries(request, setup, results)],
    }


def _report(
    request: _Request,
    setup: Setup,
    results: tuple[Result, ...],
    out: Path | None,
    prices: Prices | None,
) -> None:
    from dqa.models.registry import is_scripted
    from dqa.report.tables import accuracy_table, notes, spending_line

    summaries = _summaries(request, setup, results)
    typer.echo("Accuracy in % (correct/judged), with its 95 % interval below")
    echo_table(accuracy_table(summaries))
    for model in dict.fromkeys(summary.model for summary in summaries):
        typer.echo(model_line(model))
        if is_scripted(model):
            typer.echo(
                "How far each decider looks is the script's own choice: the differences between "
                "deciders say nothing about language models."
            )
    for line in notes(summaries):
        typer.echo(line)
    typer.echo(spending_line(results, prices))
    if out is not None:
        typer.echo(f"Results and traces are in {out}.")


def _complain(results: tuple[Result, ...]) -> None:
    """Say on stderr what failed; exit code 1 where nothing at all could be judged."""
    from dqa.evaluation.score import Outcome
    from dqa.report.tables import failures

    for line in failures(results):
        typer.echo(f"failed: {line}", err=True)
    if all(result.outcome is Outcome.INFRASTRUCTURE for result in results):
        raise typer.Exit(1)


def _stopped_by_budget(results: tuple[Result, ...], total: int, out: Path | None) -> None:
    """Raise `BudgetSpentError` where the run stopped before its end, saying how to go on."""
    from dqa.evaluation.score import Outcome

    ended = [result for result in results if result.outcome is Outcome.BUDGET]
    if not ended:
        return
    made = f"{ended[0].error} {len(results) - len(ended)} of {total} decisions were made"
    raise BudgetSpentError(
        f"{made} and not kept; --out DIR would have kept them."
        if out is None
        else f"{made} and are kept in {out}. The same command with --resume and a higher budget "
        "goes on."
    )


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
