"""The command ``load``, and the commands of the group ``data``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options, output
from dqa.cli.fields import given_by
from dqa.cli.options import CountOrNone, Seed, names_in
from dqa.cli.questions import AnyQuestionOptions, QuestionOptions, ReadOptions
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.files import require_new_folder
from dqa.core.text import counted
from dqa.scenarios.generation import Difficulty, Mix

if TYPE_CHECKING:
    from dqa.api.databases import LoadedHere
    from dqa.databases.namespaces import LoadedSituation
    from dqa.evaluation.audit import Annotation, ReleaseAudit


def generate(  # noqa: PLR0913  (one parameter per option)
    *,
    ctx: typer.Context,
    out: Path,
    bounds: Difficulty,
    question_set: str | None = None,
    scenarios: str | None = None,
    questions: CountOrNone = None,
    mix: str | None = None,
    per_database: CountOrNone = None,
    size: list[str] | None = None,
    seed: Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """Generate questions and their databases in a new folder, in the release's file format.

    Parameters
    ----------
    out : DIR
        New folder to write to.
    question_set : NAME
        Write this named set of questions instead of new questions. 'dqa list' shows all sets.
    scenarios : NAMES
        Scenarios, separated by commas. By default, all scenarios that have a simulator.
    questions
        Number of questions in each scenario. By default 10.
    mix : direct=X,far=Y
        X is the share of questions whose answer is 1 step from the target. Y is the share of
        questions whose answer is at least N steps from the target. N is 2, or --hops if that is
        more.
    per_database
        Maximum number of questions about one database.
    size : SCENARIO.NAME=N
        Size of a scenario's databases, such as a number of rows. May be repeated.
    """
    from dqa.loaders.generator.generate import generate as generate_questions
    from dqa.loaders.generator.generate import size_of
    from dqa.loaders.generator.manifest import write_generated

    require_new_folder(out)
    if question_set is not None:
        from dqa.loaders.sets import write_set

        if given_by(ctx).keys() - {"question_set", "out", "as_json"}:
            raise UsageError(
                "--name NAME selects a fixed set of questions: add only --out and --json."
            )
        write_set(question_set, out)
    else:
        difficulty = replace(bounds, mix=_mix(mix))
        sizes = tuple(size_of(*sized) for sized in _sizes(size or ()).items())
        settings = {"difficulty": difficulty, "sizes": sizes, "per_database": per_database}
        named = names_in("--scenarios", scenarios) or None
        made = generate_questions(named, questions, seed, **settings)  # type: ignore[arg-type]
        found = tuple(dict.fromkeys(question.scenario for question in made.questions))
        settings |= {"scenarios": found, "count": questions or 10}
        write_generated(made, out, seed=seed, options=settings)
    _report(out, as_json)


def _report(out: Path, as_json: bool) -> None:
    from dqa.core.distribution import shell_command
    from dqa.loaders.generator.manifest import read_manifest

    manifest = read_manifest(out)
    lines = [
        f"{scenario}: {counted(counts.questions, 'question')} on "
        f"{counted(counts.databases, 'database')}, {counts.mean_rows:.1f} rows on average"
        for scenario, counts in manifest.counts.items()
    ]
    how = shell_command("eval", "--generated", str(out))
    written = f"The questions are in {out}. Evaluate a decider on them: {how}"
    output.show({"out": str(out), **manifest.to_json()}, [*lines, written], as_json=as_json)


def _mix(text: str | None) -> Mix | None:
    """Parse the shares in ``--mix``."""
    if text is None:
        return None
    shares = options.pairs_in("--mix", text.split(","), "direct=X,far=Y")
    known = list(Mix.__annotations__)
    for name in shares:
        if name not in known:
            raise UnknownNameError("--mix share", name, known)
    try:
        return Mix(**{name: float(share) for name, share in shares.items()})
    except ValueError as error:
        raise UsageError(
            f"--mix {text}: a share is not a number. Write, for example, direct=0.3,far=0.7."
        ) from error


def _sizes(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Parse ``--size`` into the sizes of each scenario."""
    example = "SCENARIO.NAME=NUMBER"
    numbers: dict[str, dict[str, str]] = {}
    for name, value in options.pairs_in("--size", texts, example).items():
        scenario, dot, field = name.partition(".")
        if not dot:
            raise UsageError(f"--size {name}={value} does not have the form {example}.")
        numbers.setdefault(scenario, {})[field] = value
    return numbers


def show_question(
    *,
    question: Annotated[str, options.argument("QUESTION")],
    questions: AnyQuestionOptions,
    reading: ReadOptions,
    as_json: options.AsJson = False,
) -> None:
    """Print a question with its rules, the schema of its database, and its answer.

    Parameters
    ----------
    question
        SCENARIO/ID of the question.
    """
    from dqa.api.questions import show as show_one

    texts = show_one(reading.read(questions, question), question)
    lines = [f"{name.capitalize()}\n{indent(text, '  ')}\n" for name, text in texts.items()]
    output.show(texts, lines, as_json=as_json)


def annotate(
    *,
    questions: AnyQuestionOptions,
    reading: ReadOptions,
    rule_set: str | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate the candidates of each question, and compare the best one with the official answer.

    A candidate is one of the possible decisions of a question.
    """
    from dqa.evaluation.audit import annotate as annotate_all

    annotations = annotate_all(reading.read(questions), rule_set)
    lines = [*map(_annotation, annotations), *_agreement(annotations)]
    output.show(annotations, lines, as_json=as_json)


def _annotation(annotation: Annotation) -> str:
    ties = f" (tie of {len(annotation.ties)})" if len(annotation.ties) > 1 else ""
    best = f"{annotation.scenario}/{annotation.question}: {annotation.answer}{ties}"
    if annotation.official is None:
        return best
    agrees = "agrees" if annotation.agrees else "DIFFERS"
    return f"{best}, official {annotation.official}: {agrees}"


def _agreement(annotations: Sequence[Annotation]) -> list[str]:
    lines = []
    for scenario in dict.fromkeys(a.scenario for a in annotations):
        known = [a for a in annotations if a.scenario == scenario and a.official is not None]
        agreed = sum(bool(a.agrees) for a in known)
        lines.append(
            f"{scenario}: {agreed} of "
            f"{counted(len(known), 'official answer agrees', 'official answers agree')}"
        )
    return lines


def audit(
    *,
    questions: AnyQuestionOptions,
    reading: ReadOptions,
    html: Path | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Check every official answer under every rule set, and explain the verdict.

    The last lines show the totals, and how often each heuristic of a scenario is right. With
    --html, only these lines are printed; the page shows the verdicts.

    Parameters
    ----------
    html
        New HTML page with all verdicts.
    """
    from dqa.api.reporting import write_audit_page
    from dqa.core.files import require_new_file
    from dqa.evaluation.audit import audit as audit_all
    from dqa.report.tables import shortcut_lines

    if html is not None:
        require_new_file(html)
    audited = audit_all(reading.read(questions))
    lines = [*_verdicts(audited), *shortcut_lines(audited.shortcuts)]
    if html is None:
        labels = (
            f"{label.scenario}/{label.question} {label.official}: {label.verdict}\n  {label.reason}"
            for label in audited.labels
        )
        lines = [*labels, *lines]
    else:
        write_audit_page(audited, html)
        lines.append(
            f"The page with the verdicts on {counted(len(audited.labels), 'label')} is {html}."
        )
    output.show(audited, lines, as_json=as_json)


def _verdicts(audited: ReleaseAudit) -> list[str]:
    lines = []
    for totals in audited.totals:
        verdicts = ", ".join(f"{verdict} {count}" for verdict, count in totals.verdicts.items())
        agree = ", ".join(
            f"{counted(count, 'agrees', 'agree')} under {name}"
            for name, count in totals.agree.items()
        )
        lines.append(f"{totals.scenario}: {counted(totals.labels, 'label')}, {agree} ({verdicts})")
    return lines


def load(  # noqa: PLR0913  (one parameter per option)
    *,
    database: options.DatabaseLocation,
    questions: QuestionOptions,
    reading: ReadOptions,
    question: str | None = None,
    drop: list[str] | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Load the databases of questions into a server or a file, or drop them again.

    Each question's data gets its own namespace: a schema, a label or a file. Data that is already
    loaded stays.

    Parameters
    ----------
    question : KEY
        Load only the database of this question (SCENARIO/ID).
    drop : NAMESPACE
        Drop this namespace, and load nothing. Only a namespace that this command created can be
        dropped ('dqa list --database' shows these namespaces). May be repeated.
    """
    from dqa import plugins
    from dqa.api.databases import load as load_all
    from dqa.api.databases import unload
    from dqa.cli.progress import track

    plugins.backend_for(database)  # refuse a wrong location before the questions are read
    done: Sequence[LoadedHere | LoadedSituation]
    if drop:
        done = unload(database, drop)
    else:
        read = reading.read(questions, question)
        done = load_all(read, database, question=question, shown=track)
    lines = (
        f"{one.namespace}: {one.name}, {counted(one.rows, 'row')}, "
        f"{getattr(one, 'done', 'unloaded')}"
        for one in done
    )
    output.show(done, lines, as_json=as_json)
