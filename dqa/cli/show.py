"""``dqa show``: one question as a decider meets it, with its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.output import echo_json, report_defects

if TYPE_CHECKING:
    from dqa.core.question import Question
    from dqa.core.situation import Situation
    from dqa.core.truth import Truth

__all__ = ["show"]


def show(  # noqa: PLR0913  (one parameter an option)
    *,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="SCENARIO/ID, e.g. locating/1.")
    ],
    release: options.Release = None,
    generated: options.Generated = None,
    generate: options.Generate = None,
    seed: options.Seed = 0,
    form: options.Form = "relational",
    strict: options.Strict = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Print a question, its rules, its database's schema and its answer."""
    scenario = options.scenario_in(question)
    source = options.Source(release, generated, generate, seed, scenario, form=form, strict=strict)
    questions = source.read()
    asked = questions.find(question)
    report_defects(questions.defects, verbose)
    situation = questions.situation_of(asked)
    if as_json:
        echo_json(_as_json(asked, questions.truth_of(asked), situation))
    else:
        typer.echo(_as_text(asked, questions.truth_of(asked), situation))


def _as_json(question: Question, truth: Truth, situation: Situation) -> dict[str, Any]:
    from dqa.core.schema import describe

    schema = describe(situation.schema)
    return {
        "key": question.key,
        "scenario": question.scenario,
        "id": question.id,
        "question": question.text,
        "rules": question.rules,
        "target": dict(question.target),
        "candidates": list(question.candidates or ()),
        "answer": truth.official,
        "answers": list(truth.answers),
        "outcomes": None if truth.outcomes is None else list(truth.outcomes),
        "situation": {
            "name": situation.name,
            "hash": situation.content_hash,
            "rows": {name: len(table) for name, table in situation.tables.items()},
        },
        "schema": {
            "relational": replace(schema, nodes=(), edges=()).to_text().splitlines(),
            "graph": replace(schema, tables=()).to_text().splitlines(),
        },
    }


def _as_text(question: Question, truth: Truth, situation: Situation) -> str:
    from dqa.core.schema import describe

    rows = ", ".join(f"{name} {len(table)}" for name, table in situation.tables.items())
    listed = "not listed" if question.candidates is None else str(len(question.candidates))
    answer = ", ".join(map(str, truth.answers)) or "not known"
    parts = {
        "Question": question.text.strip(),
        "Rules": question.rules.strip(),
        f"Database {situation.name} ({rows} rows)": describe(situation.schema).to_text(),
        "Candidates": listed,
        "Answer": answer,
    }
    if truth.outcomes is not None:
        told = zip(question.candidates or (), truth.outcomes, strict=True)
        parts["Outcomes"] = "\n".join(f"{candidate}: {value:g}" for candidate, value in told)
    sections = [f"{title}\n{_indented(body)}" for title, body in parts.items()]
    return "\n\n".join([question.key, *sections])


def _indented(body: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in body.splitlines())
