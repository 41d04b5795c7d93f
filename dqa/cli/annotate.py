"""``dqa annotate``: the best decisions of every question, next to its official answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dqa.cli import options
from dqa.cli.fields import RuleSet, Seed, with_options
from dqa.cli.output import echo, echo_json, report_defects
from dqa.cli.questions import AnyQuestionOptions
from dqa.core.text import counted
from dqa.evaluation.options import EngineOptions

if TYPE_CHECKING:
    from dqa.evaluation.annotate import Annotation


@with_options(questions=AnyQuestionOptions, working=EngineOptions)
def annotate(  # noqa: PLR0913  (one parameter per option)
    *,
    questions: AnyQuestionOptions,
    scenarios: options.Scenarios = None,
    seed: Seed = 0,
    form: options.Form = "relational",
    rule_set: RuleSet = None,
    working: EngineOptions,
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Simulate every candidate of every question, and print the best and the label."""
    from dqa.evaluation.annotate import annotate as annotate_all

    read = questions.source(seed, options.scenarios_in(scenarios), form=form, strict=strict).read()
    report_defects(read.defects, verbose)
    annotations = annotate_all(read, rule_set, options=working)
    if as_json:
        echo_json([annotation.to_json() for annotation in annotations])
    else:
        echo(*map(_line, annotations), *_totals(annotations))


def _line(annotation: Annotation) -> str:
    ties = f" (tie of {len(annotation.ties)})" if len(annotation.ties) > 1 else ""
    best = f"{annotation.scenario}/{annotation.question}: {annotation.answer}{ties}"
    if annotation.official is None:
        return best
    agrees = "agrees" if annotation.agrees else "DIFFERS"
    return f"{best}, official {annotation.official}: {agrees}"


def _totals(annotations: Sequence[Annotation]) -> list[str]:
    lines = []
    for scenario in dict.fromkeys(a.scenario for a in annotations):
        known = [a for a in annotations if a.scenario == scenario and a.official is not None]
        agreed = sum(bool(a.agrees) for a in known)
        lines.append(
            f"{scenario}: {agreed} of "
            f"{counted(len(known), 'official answer agrees', 'official answers agree')}"
        )
    return lines
