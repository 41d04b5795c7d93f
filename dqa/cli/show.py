"""``dqa show``: one question as a decider sees it, with its answer."""

from __future__ import annotations

from typing import Annotated

from dqa.cli import options
from dqa.cli.fields import Seed, with_options
from dqa.cli.output import echo_result, report_defects
from dqa.cli.questions import AnyQuestionOptions


@with_options(questions=AnyQuestionOptions)
def show(  # noqa: PLR0913  (one parameter per option)
    *,
    question: Annotated[str, options.argument("QUESTION")],
    questions: AnyQuestionOptions,
    scenarios: options.Scenarios = None,
    seed: Seed = 0,
    form: options.Form = "relational",
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Print a question, its rules, its database's schema and its answer.

    Parameters
    ----------
    question
        SCENARIO/ID.
    """
    from dqa.api.questions import show as show_one

    named = options.scenarios_in(scenarios) or options.scenario_in(question)
    read = questions.source(seed, named, form=form, strict=strict).read_for(question)
    shown = show_one(read, question)
    report_defects(read.defects, verbose)
    echo_result(shown.to_json(), shown.to_text(), as_json=as_json)
