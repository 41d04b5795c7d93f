"""``dqa ask``: one question on any database that a backend opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from dqa.cli import options
from dqa.cli.ask_question import AskedQuestion
from dqa.cli.asking import Asking, model_line
from dqa.cli.bundles import takes
from dqa.cli.calling import Calling
from dqa.cli.output import echo_json
from dqa.core.errors import BudgetSpentError, InfrastructureError, UsageError
from dqa.report.untrusted import visible

if TYPE_CHECKING:
    from dqa.core.database import Database

__all__ = ["ask"]


@takes(asked=AskedQuestion, asking=Asking, calling=Calling)
def ask(  # noqa: PLR0913  (one parameter an option)
    *,
    database: Annotated[
        str, typer.Option("--database", metavar="URL|PATH", help="Database to decide on.")
    ],
    asked: AskedQuestion,
    rule_set: Annotated[
        str | None,
        typer.Option(
            "--rule-set",
            metavar="NAME",
            help="How the scenario's simulator counts: 'released', the default, or 'paper'.",
        ),
    ] = None,
    decider: Annotated[str, typer.Option("--decider", help="Who decides.")] = "planrag",
    asking: Asking,
    calling: Calling,
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="FILE", help="New file for the full trace.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Ask one question about any database; exit code 1 where it ends without an answer."""
    from dqa.core.decision import Ending
    from dqa.evaluation.store import decision_to_json
    from dqa.models.takes import asked_by

    rules = asked.rules_text()
    deciders, models = asking.deciders((decider,), calling, rules=rule_set)
    with _new_file(trace) as file, _opened(database) as opened:
        question = asked.read(opened, rules)
        with asked_by(question.key, decider):
            decision = deciders[decider].decide(question, opened)
        full = {
            "question": question.key,
            "database": opened.name,
            "kind": opened.kind,
            "decider": decider,
            "model": models[decider],
        }
        full |= decision_to_json(decision)
        if file is not None:
            file.write(json.dumps(full, indent=2, ensure_ascii=False, default=str) + "\n")
    if as_json:
        echo_json(full)
    else:
        typer.echo(_as_text(full))
    if decision.ending is Ending.INFRASTRUCTURE:
        raise InfrastructureError(decision.error or "A server, the network or a provider failed.")
    if decision.ending is Ending.BUDGET:
        raise BudgetSpentError(decision.error or "The budget is spent.")
    if decision.ending is not Ending.ANSWERED:
        raise typer.Exit(1)


@contextmanager
def _new_file(path: Path | None) -> Iterator[TextIO | None]:
    """Open the trace's file before anything is asked, so a wrong name costs no answer."""
    if path is None:
        yield None
        return
    try:
        file = path.open("x", encoding="utf-8", newline="\n")
    except FileExistsError as error:
        raise UsageError(f"--trace {path} exists already: name a new file.") from error
    except OSError as error:
        raise UsageError(f"--trace {path} cannot be written: {error.strerror}.") from error
    try:
        with file:
            yield file
    except BaseException:
        # Nothing was decided; an empty file would only be in the way of the next try.
        path.unlink()
        raise


@contextmanager
def _opened(location: str) -> Iterator[Database]:
    """Open `location` with the backend that accepts it, and close it in the end."""
    from dqa import plugins

    database = plugins.backend_for(location).open(location)
    try:
        yield database
    finally:
        database.close()


def _as_text(full: dict[str, Any]) -> str:
    lines = [f"Answer: {full['answer'] or '(none)'}"]
    if full["choice"] is not None:
        lines.append(f"Choice: {full['choice']}")
    ending = f"Ended: {full['ending']} after {full['steps']} replies"
    lines.append(f"{ending}. {full['error']}" if full["error"] else ending)
    for number, plan in enumerate(full["plans"], start=1):
        lines += [f"Plan {number}:" if len(full["plans"]) > 1 else "Plan:"]
        lines += [f"  {line}" for line in plan.strip().splitlines()]
    lines.append(f"Evidence: {len(full['evidence'])} statements")
    for evidence in full["evidence"]:
        lines += [f"  {line}" for line in evidence["statement"].strip().splitlines()]
        if evidence["error"]:
            lines.append(f"    -> {evidence['error']}")
        else:
            cut = f", cut by the limit on {evidence['cut']}" if evidence["cut"] else ""
            lines.append(f"    -> {evidence['row_count']} rows{cut}")
    lines.append(model_line(full["model"]))
    return "\n".join(visible(line) for line in "\n".join(lines).split("\n"))
