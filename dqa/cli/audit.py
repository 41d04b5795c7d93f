"""``dqa audit``: what every official label of a release rests on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.fields import Seed, with_options
from dqa.cli.help import OUTPUT
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json, report_defects
from dqa.cli.questions import AnyQuestionOptions
from dqa.core.text import counted

if TYPE_CHECKING:
    from dqa.evaluation.audit import ReleaseAudit


@with_options(questions=AnyQuestionOptions)
def audit(  # noqa: PLR0913  (one parameter per option)
    *,
    questions: AnyQuestionOptions,
    scenarios: options.Scenarios = None,
    seed: Seed = 0,
    form: options.Form = "relational",
    strict: options.Strict = False,
    html: Annotated[Path | None, option("--html FILE", OUTPUT)] = None,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Judge every official label under every rule set, and explain the verdict.

    The last lines show how often each heuristic of a scenario is right, by the distance of the
    answer. With --html only they are printed, and the page has the rest.

    Parameters
    ----------
    html
        New page for a reviewer.
    """
    from dqa.api.measuring import write_audit_page
    from dqa.core.files import require_new_file
    from dqa.evaluation.audit import audit as audit_all
    from dqa.report.tables import shortcut_lines

    if html is not None:
        require_new_file(html)
    named = options.scenarios_in(scenarios)
    read = questions.source(seed, named, form=form, strict=strict).read()
    report_defects(read.defects, verbose)
    audited = audit_all(read)
    if html is not None:
        write_audit_page(audited, html)
    if as_json:
        echo_json(audited.to_json())
        return
    for label in audited.labels if html is None else ():
        echo(f"{label.scenario}/{label.question} {label.official}: {label.verdict}")
        echo(f"  {label.reason}")
    for line in (*_totals(audited), *shortcut_lines(audited.shortcuts)):
        echo(line)
    if html is not None:
        labels = counted(len(audited.labels), "label")
        echo(f"The page with every one of {labels} is {html}.")


def _totals(audited: ReleaseAudit) -> list[str]:
    lines = []
    for totals in audited.totals:
        verdicts = ", ".join(f"{verdict} {count}" for verdict, count in totals.verdicts.items())
        agree = ", ".join(
            f"{counted(count, 'agrees', 'agree')} under {name}"
            for name, count in totals.agree.items()
        )
        lines.append(f"{totals.scenario}: {counted(totals.labels, 'label')}, {agree} ({verdicts})")
    return lines
