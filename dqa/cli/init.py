"""``dqa init``: a scenario's folder proposed from a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dqa.cli import options
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo_result


def init(  # noqa: PLR0913  (one parameter per option)
    *,
    database: options.DatabaseLocation,
    out: Annotated[Path | None, option("--out DIR", OUTPUT)] = None,
    question: Annotated[str | None, option("--question TEXT", QUESTIONS)] = None,
    tables: options.Tables = None,
    policy: options.Policy = None,
    audit: options.AuditFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Propose a scenario's folder from a database: tables, rules, question and statements.

    What the database does not contain is guessed, and marked. Nothing is overwritten.

    Parameters
    ----------
    out
        New or empty folder to write; by default named after the candidates.
    question
        What to decide: it selects the tables, and is the scenario's question.
    """
    from dqa.api.proposing import propose_scenario

    proposed = propose_scenario(
        database,
        out,
        question=options.nonempty("--question", question),
        tables=options.tables_in(tables),
        policy=policy,
        audit=audit,
    )
    echo_result(proposed.to_json(), proposed.to_text(), as_json=as_json)
