"""Draw a named set of questions anew, or measure it (no speed is measured).

Run ``python -m benchmarks.make_set hard-1``.

Draws the set that ``set.toml`` describes, and rewrites ``manifest.json`` and the figures of
``card.md`` in the set's folder of this checkout. Where only the words of rules or questions
changed, ``--reword`` is enough: it keeps worlds, questions and answers, once every answer has
proved to be sure still. ``--figures`` measures the present set, without a new manifest.
A change of a published set's content needs a new version and name.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import numpy as np

import dqa
from dqa import plugins
from dqa.core.errors import PluginError, UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.deciders.base import Settings
from dqa.evaluation.audit import simulate_all
from dqa.loaders.generator import GENERATOR_VERSION, read_manifest, write_generated
from dqa.loaders.generator.generate import common_label_rules, gather, size_of
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.loaders.set_files import CARD, MANIFEST
from dqa.loaders.sets import (
    SetManifest,
    SetPlan,
    SetWorld,
    read_manifest_of,
    read_plan,
    read_set,
    written_options,
)
from dqa.scenarios.generation import Drawn, Request, Resistance

NEEDS = ()
DECIDERS = ("first", "random", "oracle")
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


def main() -> None:
    """Draw, write and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="as the entry point dqa.sets has it")
    parser.add_argument("--reword", action="store_true", help="keep worlds and answers")
    parser.add_argument("--figures", action="store_true", help="only measure the present set")
    arguments = parser.parse_args()
    folder = plugins.question_set(arguments.name)
    assert isinstance(folder, Path), "a set is drawn anew in a checkout"
    plan = read_plan(arguments.name)
    if arguments.reword:
        reword(plan, arguments.name, folder)
        return
    if not arguments.figures:
        draw(plan, folder)
    start = perf_counter()
    made = read_set(arguments.name)
    print(f"read in {perf_counter() - start:.1f} s")
    card = (folder / CARD).read_text("utf-8")
    before, _, rest = card.partition(BEGIN)
    _, _, after = rest.partition(END)
    figures = "\n".join(figures_of(made))
    (folder / CARD).write_text(f"{before}{BEGIN}\n{figures}\n{END}{after}", "utf-8")


def draw(plan: SetPlan, folder: Path) -> None:
    """Search for the set's questions, and write its manifest."""
    start = perf_counter()
    drawn = draw_set(plan, DecidersErr(plan.resist) if plan.resist else None)
    print(f"drawn in {perf_counter() - start:.1f} s")
    write(plan, drawn, folder)


def reword(plan: SetPlan, name: str, folder: Path) -> None:
    """Write the manifest of the present worlds, in the words that scenarios have now."""
    drawn = DrawnSet(read_set(name, check_words=False), read_manifest_of(name).worlds)
    for label in dqa.audit(drawn.questions).labels:
        sure = all(label.agrees.values()) and label.tie_of == 1 and not label.decided_by_last_bit
        assert sure, f"{label.scenario}/{label.question}: {label.reason} Draw the set anew."
    write(plan, drawn, folder)


def write(plan: SetPlan, drawn: DrawnSet, folder: Path) -> None:
    """Write the manifest of a set."""
    with TemporaryDirectory() as parent:
        out = Path(parent) / "set"
        write_generated(drawn.questions, out, seed=plan.seed, options=written_options(plan))
        print(
            f"{sum(file.stat().st_size for file in out.rglob('*') if file.is_file()) / 1e6:.0f} MB"
        )
        manifest = manifest_of(plan, drawn, read_manifest(out).files)
    text = json.dumps(manifest.to_json(), indent=1, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, "utf-8", newline="\n")


class DecidersErr:
    """Finds the questions that some heuristics get wrong; see `Resistance`.

    One that cannot decide a scenario does not count there. No answer is not a wrong answer.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._deciders = {name: plugins.decider(name)(None, Settings()) for name in names}
        self._right: Counter[str] = Counter()

    def keeps(self, situation: Situation, asked: Sequence[LabelledQuestion]) -> Sequence[bool]:
        """Return for each of the questions about a situation whether every heuristic errs on it."""
        able = [name for name in self._deciders if self._decides(name, asked[0].question)]
        with closing(plugins.backend("sqlite").load(situation)) as database:
            wrong = ([self._is_wrong(name, one, database) for name in able] for one in asked)
            return [bool(each) and all(each) for each in wrong]

    def description(self) -> str:
        """Return how often each heuristic was right until now."""
        return "; ".join(f"{name}: {count} right" for name, count in self._right.items())

    def _decides(self, name: str, question: Question) -> bool:
        try:
            self._deciders[name].check(question)
        except UsageError:
            return False
        return True

    def _is_wrong(self, name: str, labelled: LabelledQuestion, database: dqa.Database) -> bool:
        choice = self._deciders[name].decide(labelled.question, database).choice
        is_right = choice in labelled.truth.answers
        self._right[name] += is_right
        return choice is not None and not is_right


class DrawnSet(NamedTuple):
    """A set that was drawn anew: its questions, and what draws its worlds again."""

    questions: QuestionSet
    worlds: tuple[SetWorld, ...]


def draw_set(plan: SetPlan, resistance: Resistance | None) -> DrawnSet:
    """Draw a set anew, by a search for what its plan asks for.

    Raises
    ------
    UsageError
        A bound of the plan is too tight.
    UnknownNameError
        A scenario that cannot be generated, or a number that its size does not have.
    """
    names = dict.fromkeys(part.scenario for part in plan.parts)
    drawn = {name: list(_drawn(plan, name, resistance)) for name in names}
    worlds = [_world(name, found) for name, listed in drawn.items() for found in listed]
    return DrawnSet(gather(plan.name, drawn.values()), tuple(worlds))


def manifest_of(plan: SetPlan, drawn: DrawnSet, files: dict[str, str]) -> SetManifest:
    """Return the manifest of a set that was drawn anew, and whose files were written."""
    questions = drawn.questions
    return SetManifest(
        name=plan.name,
        version=plan.version,
        generator_version=GENERATOR_VERSION,
        label_rules=common_label_rules(questions),
        worlds=drawn.worlds,
        questions={q.key: questions.question_hash(q) for q in questions.questions},
        files=files,
    )


def _drawn(plan: SetPlan, scenario: str, resistance: Resistance | None) -> Iterator[Drawn]:
    """Draw a scenario's parts, numbered through."""
    databases = questions = 0
    for part in (part for part in plan.parts if part.scenario == scenario):
        request = Request(
            count=part.questions,
            seed=plan.seed,
            size=size_of(scenario, part.size),
            difficulty=replace(plan.difficulty, hops=part.hops),
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
            f"The generator of '{scenario}' does not tell how it drew a world (Drawn.draw), so no "
            "set can hold its worlds."
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


def figures_of(made: QuestionSet) -> Iterator[str]:
    """Yield the lines of the figures, as tables."""
    yield ""
    yield from table(("", *scenarios(made)), what_there_is(made))
    yield ""
    yield "How many questions each rule of thumb gets right:"
    yield ""
    shortcuts = [
        (f"`{found.name}`", found.scenario, f"{found.right} of {found.questions}")
        for found in dqa.measure_shortcuts(made)
    ]
    yield from table(("heuristic", "scenario", "right"), shortcuts)
    yield ""
    yield "And each baseline:"
    yield ""
    run = dqa.evaluate(made, DECIDERS, databases=["sqlite"])
    right = Counter(
        (r.decider, r.scenario) for r in run.results if r.outcome is dqa.Outcome.CORRECT
    )
    counts = Counter(question.scenario for question in made.questions)
    rows = [
        (f"`{name}`", *(f"{right[name, s]} of {counts[s]}" for s in scenarios(made)))
        for name in DECIDERS
    ]
    yield from table(("decider", *scenarios(made)), rows)
    yield ""


def what_there_is(made: QuestionSet) -> list[tuple[str, ...]]:
    """Return counts, sizes, distances, margins and agreement of rule sets, a column a scenario."""
    columns = [dict(described(made.select((scenario,)))) for scenario in scenarios(made)]
    lines = dict.fromkeys(line for column in columns for line in column)
    return [(line, *(column.get(line, "-") for column in columns)) for line in lines]


def described(made: QuestionSet) -> Iterator[tuple[str, str]]:
    """Yield what there is of one scenario."""
    situations = [made.situation_of(question) for question in made.questions]
    rows = Counter(situation.row_count for situation in situations)
    worlds = len({situation.name for situation in situations})
    yield "questions", str(len(situations))
    yield "databases", str(worlds)
    yield "questions by rows", ", ".join(f"{n:,}: {count}" for n, count in sorted(rows.items()))
    yield "candidates", spread([len(q.candidates or ()) for q in made.questions])
    generator = plugins.generator(made.questions[0].scenario)
    assert isinstance(generator, SimulatedGenerator)
    far: Counter[int] = Counter()
    for question, truth in made.labelled:
        steps = generator.steps(made.situation_of(question), question)
        far[int(steps[(question.candidates or ()).index(truth.answers[0])])] += 1
    yield "questions by steps", ", ".join(f"{n}: {count}" for n, count in sorted(far.items()))
    simulator = plugins.simulator(made.questions[0].scenario)
    for rules in simulator.rule_sets:
        outcomes = simulate_all(made, rules)
        agree = sum(
            found.ties == made.truth_of(question).answers and not found.decided_by_last_bit
            for question, found in zip(made.questions, outcomes, strict=True)
        )
        margins = [
            100.0 * found.margin / abs(found.best - (found.baseline or 0.0)) for found in outcomes
        ]
        yield f"unique best by `{rules}`", f"{agree} of {len(outcomes)}"
        yield f"margin by `{rules}`, % of the gain", spread(margins)


def spread(values: Sequence[float]) -> str:
    """Return the least, the median and the most."""
    told = [f"{x:,.0f}" if x >= 100.0 else f"{x:.3g}" for x in np.percentile(values, [0, 50, 100])]
    return f"{told[0]} to {told[2]}, median {told[1]}"


def scenarios(made: QuestionSet) -> tuple[str, ...]:
    """Return the scenarios of a set, in order."""
    return tuple(dict.fromkeys(question.scenario for question in made.questions))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a Markdown table."""
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    main()
