"""Write question sets in the layout of the DQA release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dqa.core.errors import DataError
from dqa.core.files import file_errors, make_private_folder, require_new_folder, write_private
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.text import visible
from dqa.core.truth import Truth
from dqa.loaders.release_layout import FORMS, Form, ScenarioLayout, layouts


def write_release(question_set: QuestionSet, folder: Path | str) -> tuple[Path, ...]:
    """Write questions and their situations in the layout of the DQA release, as SQL and as Cypher.

    Reading the files returns equal questions, with two exceptions. Texts lose white space at their
    ends. A situation gets the name of its first file, such as ``q1``. If a parameter of the
    questions names the database, the situation gets this name instead.

    Parameters
    ----------
    question_set
        Questions with one answer each. Their scenarios must have ``[release]``.
    folder
        An empty or a new folder.

    Returns
    -------
    tuple of Path
        The written files, sorted. Their content depends only on `question_set`.

    Raises
    ------
    UsageError
        The folder is not empty.
    DataError
        The layout does not support a question or a situation. In this case nothing is written.
    """
    folder = Path(folder)
    require_new_folder(folder)
    known = layouts()
    entries: dict[str, list[dict[str, Any]]] = {}
    contents: dict[Path, bytes] = {}
    rendered: dict[tuple[str, Form], bytes] = {}
    for question, truth in question_set.labelled:
        layout = _layout(question, known)
        entry = _entry(question, truth, layout)
        entries.setdefault(layout.name, []).append(entry)
        name = question.situation
        for form, dialect in FORMS.items():
            path = layout.database_file(folder, form, entry)
            if (name, form) not in rendered:
                try:
                    text = dialect.render(question_set.situation_of(question))
                    rendered[name, form] = text.encode("utf-8")
                except ValueError as error:  # for example an infinity, or a lone surrogate
                    problem = f"Question {question.key}: a release cannot store its data: {error}."
                    raise DataError(problem) from error
            # All files of one database share their content.
            contents[path] = rendered[name, form]
    for scenario, listed in entries.items():
        path = known[scenario].questions_file(folder)
        contents[path] = (json.dumps(listed, indent=4) + "\n").encode("utf-8")
    for path, content in contents.items():
        with file_errors(path, writing=True, more=f"{folder} is incomplete: remove the folder."):
            make_private_folder(path.parent)
            write_private(path, content)
    return tuple(sorted(contents))


def _layout(question: Question, known: Mapping[str, ScenarioLayout]) -> ScenarioLayout:
    layout = known.get(question.scenario)
    if layout is None:
        raise DataError(
            f"Question {question.key} cannot be written: a release supports only the scenarios "
            f"{', '.join(known)}. Add [release] to the scenario.toml of the question's scenario."
        )
    return layout


def _entry(question: Question, truth: Truth, layout: ScenarioLayout) -> dict[str, Any]:
    """Return the entry of a question in the file of questions."""
    if not question.id.isdecimal() or str(int(question.id)) != question.id:
        raise DataError(
            f"Question {question.key} cannot be written: in a release, the name of a question "
            "must be a number."
        )
    if len(truth.answers) != 1 or not isinstance(truth.answers[0], layout.answer):
        raise DataError(
            f"Question {question.key} has the answers {truth.answers}, but the release needs "
            f"exactly one answer of type {layout.answer.__name__}."
        )
    target = dict(question.target)
    if layout.database_key is not None:
        # In this layout, the target names the database.
        if target.setdefault(layout.database_key, question.situation) != question.situation:
            raise DataError(
                f"Question {question.key} is about '{question.situation}', but the "
                f"database in its target is '{target[layout.database_key]}'."
            )
        name = question.situation
        if name in {"", ".."} or Path(name).name != name or visible(name) != name:
            raise DataError(f"The situation's name {name!r} is not a file name.")
    parameters = layout.scenario.parameters
    if not {*layout.required} <= {*target} <= {*parameters}:
        raise DataError(
            f"The target of question {question.key} has the parameters {', '.join(target)}, but "
            f"the release needs exactly {', '.join(parameters)}."
        )
    return {
        "question_num": int(question.id),
        **{key: target.get(key, "") for key in parameters},
        "question": question.text,
        "business_rules": question.rules,
        "answer": truth.answers[0],
        **_outcomes(question, truth, layout),
        **layout.release.constants,
    }


def _outcomes(question: Question, truth: Truth, layout: ScenarioLayout) -> dict[str, Any]:
    if layout.is_recorded != (truth.outcomes is not None):
        needs = "needs" if layout.is_recorded else "has no room for"
        raise DataError(
            f"Question {question.key} cannot be written: the release {needs} recorded outcomes."
        )
    if truth.outcomes is None:
        return {}
    named = zip(question.candidates or (), truth.outcomes, strict=True)
    return {"outcomes": {str(candidate): value for candidate, value in named}}
