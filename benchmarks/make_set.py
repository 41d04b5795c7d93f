"""Generate a named set of questions again, and write its manifest (no speed is measured).

Run ``python -m benchmarks.make_set hard-1``. The file ``set.toml`` in the folder of the set
describes which questions to draw. The program draws them and writes ``manifest.json`` into this
folder. If only the words of rules or questions changed, use ``--reword``. It does not draw worlds,
questions and answers again, but checks that every answer is still unambiguous. If the content of a
published set changes, the set needs a new version and a new name.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from pydantic import Field, TypeAdapter

import dqa
from dqa import plugins
from dqa.core.errors import PluginError, UsageError
from dqa.core.files import parse_toml
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.deciders.base import Settings
from dqa.loaders.generator.generate import common_label_rules, gather, size_of
from dqa.loaders.generator.manifest import GENERATOR_VERSION, read_manifest, write_generated
from dqa.loaders.set_files import MANIFEST
from dqa.loaders.sets import SetManifest, SetWorld, read_manifest_of, read_set
from dqa.scenarios.generation import Difficulty, Drawn, Request, Resistance


class SetPart(Record):
    """Worlds of one scenario and size, and the number of questions about them.

    Attributes
    ----------
    questions
        The number of questions about all worlds of the part.
    per_database
        The maximum number of questions per world.
    hops
        The value of `Difficulty.hops` for the questions of this part.
    size
        The fields of the worlds' size by name. Missing fields have their defaults.
    """

    scenario: str
    questions: Annotated[int, Field(ge=1)]
    per_database: Annotated[int, Field(ge=1)]
    hops: Annotated[int, Field(ge=1)] = 1
    size: dict[str, int] = Field(default_factory=dict)


class SetPlan(Record):
    """``set.toml``: the first fields of the manifest, and the questions to draw.

    Attributes
    ----------
    resist
        Names of deciders. Each decider answers wrongly all questions of the scenarios that it
        supports.
    parts
        The worlds. The questions of a scenario are numbered consecutively over all its parts.
    """

    name: str
    version: int
    summary: str
    seed: int
    resist: tuple[str, ...] = ()
    difficulty: dict[str, Any]
    parts: Annotated[tuple[SetPart, ...], Field(min_length=1)]


def main() -> None:
    """Draw a set again, or only change its words, and write its manifest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="the name of its entry point in the group dqa.sets")
    parser.add_argument("--reword", action="store_true", help="keep worlds and answers")
    arguments = parser.parse_args()
    folder = plugins.question_set(arguments.name)
    assert isinstance(folder, Path), "a set can only be drawn in a checkout of the repository"
    plan = read_plan(arguments.name)
    if arguments.reword:
        drawn = reworded(arguments.name)
    else:
        drawn = draw_set(plan, DecidersErr(plan.resist) if plan.resist else None)
    write(plan, drawn, folder)


def read_plan(name: str) -> SetPlan:
    """Read ``set.toml`` in the folder of a set."""
    text = (plugins.question_set(name) / "set.toml").read_text("utf-8")
    return SetPlan.model_validate(parse_toml(text))


def reworded(name: str) -> DrawnSet:
    """Return the stored worlds of a set with the current words of their scenarios."""
    drawn = DrawnSet(read_set(name, check_words=False), read_manifest_of(name).worlds)
    for label in dqa.audit(drawn.questions).labels:
        sure = all(label.agrees.values()) and label.tie_of == 1 and not label.decided_by_last_bit
        assert sure, f"{label.scenario}/{label.question}: {label.reason} Draw the set again."
    return drawn


def write(plan: SetPlan, drawn: DrawnSet, folder: Path) -> None:
    """Write the manifest of a set."""
    text = json.dumps(manifest_of(plan, drawn), indent=1, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, "utf-8", newline="\n")


class DecidersErr:
    """Find the questions that all heuristics of a scenario answer wrongly; see `Resistance`.

    A heuristic that gives no answer is not wrong.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._deciders = {name: plugins.decider(name)(None, Settings()) for name in names}

    def keeps(self, situation: Situation, asked: Sequence[LabelledQuestion]) -> Sequence[bool]:
        """Return for each question about a situation whether all heuristics are wrong."""
        able = [name for name in self._deciders if self._decides(name, asked[0].question)]
        with closing(plugins.backend("sqlite").load(situation)) as database:
            wrong = ([self._is_wrong(name, one, database) for name in able] for one in asked)
            return [bool(each) and all(each) for each in wrong]

    def _decides(self, name: str, question: Question) -> bool:
        try:
            self._deciders[name].check(question)
        except UsageError:
            return False
        return True

    def _is_wrong(self, name: str, labelled: LabelledQuestion, database: dqa.Database) -> bool:
        choice = self._deciders[name].decide(labelled.question, database).choice
        return choice is not None and choice not in labelled.truth.answers


class DrawnSet(NamedTuple):
    """The questions of a set, and the entries of its worlds in the manifest."""

    questions: QuestionSet
    worlds: tuple[SetWorld, ...]


def draw_set(plan: SetPlan, resistance: Resistance | None) -> DrawnSet:
    """Search for the questions that the plan of a set requires.

    Raises
    ------
    UsageError
        The search found too few questions within a bound of the plan.
    UnknownNameError
        A scenario has no generator, or a size has an unknown field.
    """
    names = dict.fromkeys(part.scenario for part in plan.parts)
    drawn = {name: list(_drawn(plan, name, resistance)) for name in names}
    worlds = [_world(name, found) for name, listed in drawn.items() for found in listed]
    return DrawnSet(gather(plan.name, drawn.values()), tuple(worlds))


def manifest_of(plan: SetPlan, drawn: DrawnSet) -> dict[str, Any]:
    """Write the files of a set to a temporary folder, and return the manifest of the set."""
    questions = drawn.questions
    with TemporaryDirectory() as parent:
        out = Path(parent) / "set"
        options = {"set": plan.name, "version": plan.version}
        write_generated(questions, out, seed=plan.seed, options=options)
        files = read_manifest(out).files
    manifest = SetManifest(
        name=plan.name,
        version=plan.version,
        summary=plan.summary,
        seed=plan.seed,
        generator_version=GENERATOR_VERSION,
        label_rules=common_label_rules(questions),
        worlds=drawn.worlds,
        questions={q.key: questions.question_hash(q) for q in questions.questions},
        files=files,
    )
    # The plan contains only the bounds that are set. JSON has no infinite bounds.
    return manifest.to_json() | {"difficulty": plan.difficulty}


def _drawn(plan: SetPlan, scenario: str, resistance: Resistance | None) -> Iterator[Drawn]:
    """Draw the parts of the plan for a scenario, with consecutive numbers over all parts."""
    difficulty = TypeAdapter(Difficulty).validate_python(plan.difficulty)
    databases = questions = 0
    for part in (part for part in plan.parts if part.scenario == scenario):
        request = Request(
            count=part.questions,
            seed=plan.seed,
            size=size_of(scenario, part.size),
            difficulty=replace(difficulty, hops=part.hops),
            per_database=part.per_database,
            resistance=resistance,
            databases_before=databases,
            questions_before=questions,
        )
        for drawn in plugins.generator(scenario).questions(plugins.scenario(scenario), request):
            databases += 1
            yield drawn
        questions += part.questions


def _world(scenario: str, drawn: Drawn) -> SetWorld:
    draw = drawn.draw
    if draw is None:
        raise PluginError(
            f"The generator of '{scenario}' does not say how it drew a world, so a set cannot "
            "contain this world. Set Drawn.draw."
        )
    return SetWorld(
        scenario=scenario,
        situation=drawn.situation.name,
        rows=drawn.situation.row_count,
        content_hash=drawn.situation.content_hash,
        database=draw.database,
        attempt=draw.attempt,
        first=draw.first,
        hops=draw.difficulty.hops,
        size=dict(draw.size),
        targets=tuple(map(dict, draw.targets)),
        answers=draw.answers,
    )


if __name__ == "__main__":
    main()
