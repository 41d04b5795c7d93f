"""``dqa show``: one question as a decider meets it, with its answer."""

from __future__ import annotations

from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.bundles import with_options
from dqa.cli.output import echo, echo_json, report_defects
from dqa.cli.shared_bundles import AnyQuestionOptions


@with_options(questions=AnyQuestionOptions)
def show(  # noqa: PLR0913  (one parameter an option)
    *,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="SCENARIO/ID.")],
    questions: AnyQuestionOptions,
    scenarios: options.Scenarios = None,
    seed: options.Seed = 0,
    form: options.Form = "relational",
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Print a question, its rules, its database's schema and its answer."""
    from dqa.api.questions import show as show_one

    named = options.scenarios_in(scenarios) or options.scenario_in(question)
    read = questions.source(seed, named, form=form, strict=strict).read_for(question)
    shown = show_one(read, question)
    report_defects(read.defects, verbose)
    if as_json:
        echo_json(shown.to_json())
    else:
        echo(*shown.to_text().split("\n"))
