"""``dqa audit``: what every official label of a release rests on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.output import echo_json, report_defects
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.evaluation.audit import Audit

__all__ = ["audit"]


def audit(  # noqa: PLR0913  (one parameter an option)
    *,
    release: options.Release = None,
    generated: options.Generated = None,
    generate: options.Generate = None,
    seed: options.Seed = 0,
    form: options.Form = "relational",
    strict: options.Strict = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="New page for a reviewer.")
    ] = None,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Judge every official label under both rule sets, and say what it rests on."""
    from dqa.evaluation.audit import audit as audit_all

    if html is not None and html.exists():
        raise UsageError(f"--html {html} exists already: name a new file.")
    source = options.Source(release, generated, generate, seed, form=form, strict=strict)
    questions = source.read()
    report_defects(questions.defects, verbose)
    audited = audit_all(questions)
    if html is not None:
        from dqa.report.audit_page import render_audit
        from dqa.report.pages import write_page

        write_page(render_audit(audited), html)
    if as_json:
        echo_json(audited.to_json())
        return
    for label in audited.labels:
        typer.echo(f"{label.scenario}/{label.question} {label.official}: {label.verdict}")
        typer.echo(f"  {label.reason}")
    for line in _totals(audited):
        typer.echo(line)
    if html is not None:
        typer.echo(f"The page is in {html}.")


def _totals(audited: Audit) -> list[str]:
    lines = []
    for totals in audited.totals:
        verdicts = ", ".join(f"{verdict} {count}" for verdict, count in totals.verdicts if count)
        lines.append(
            f"{totals.scenario}: {totals.labels} labels, {totals.agree_released} agree under "
            f"released, {totals.agree_paper} under paper ({verdicts})"
        )
    return lines
