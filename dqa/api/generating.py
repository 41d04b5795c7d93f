"""Generate questions, if wanted such that some deciders get all of them wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

from dqa import plugins
from dqa.api.running import Named, name_deciders
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import BudgetSpentError, InfrastructureError, UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.evaluation.connecting import Connected, GivenObjects, connect
from dqa.evaluation.crashes import MOST_IN_A_ROW, Crashes
from dqa.evaluation.executors import open_mapper
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.plan import Setup, Task, plan
from dqa.evaluation.score import Judge
from dqa.evaluation.spec import Deciding
from dqa.evaluation.targets import targets_of
from dqa.evaluation.worker import Worker
from dqa.loaders.generator import generate as generate_questions
from dqa.scenarios import scenario_name
from dqa.scenarios.generation import Difficulty, Size

_DATABASE = "sqlite"
"""Where the deciders read a world; a heuristic has a query for each kind of database."""


def generate(  # noqa: PLR0913  (each is a question of its own to the caller)
    scenarios: Sequence[str] | None = None,
    count: int | None = None,
    seed: int = 0,
    *,
    sizes: Sequence[Size] | Mapping[str, Mapping[str, int | str]] = (),
    difficulty: Difficulty | None = None,
    per_database: int | None = None,
    like_release: bool = False,
    resist: Named | Sequence[Named] = (),
    deciding: Deciding | None = None,
    calls: CallOptions = DEFAULT_CALLS,
    options: RunOptions = DEFAULT_RUN,
) -> QuestionSet:
    """Generate `count` questions of each scenario, with their worlds.

    The same arguments give the same question set, on every machine; where a model is resisted, as
    far as it says the same again (a cassette makes it).

    Parameters
    ----------
    scenarios
        By name or folder; by default as `dqa.loaders.generator.generate` has it.
    count, seed, sizes, difficulty, per_database, like_release
        As that has them.
    resist
        Deciders, by name or as they are: only questions are kept that all of them answer wrongly.
        One that cannot decide a scenario does not count there. No answer is no wrong answer.
    deciding
        The models that they ask, and what bounds them; by default the scripted analyst.
    calls, options
        How models are called; how many threads decide, and where worlds are drawn.

    Raises
    ------
    UsageError, UnknownNameError
        As `dqa.loaders.generator.generate`; a bound that is too tight is named, with what there
        was. Or a decider that is resisted decides none of a scenario's questions.
    InfrastructureError, CrashError, BudgetSpentError
        The deciders that are resisted cannot go on.
    """
    if resist and options.engine != "local":
        raise UsageError(
            "resist (--resist) asks deciders about one world after another, which several machines "
            f"cannot share: leave out engine='{options.engine}' (--engine)."
        )
    if scenarios is not None:
        scenarios = [plugins.scenario(scenario_name(name)).name for name in scenarios]
    resistance = resistance_of(resist, deciding or Deciding(seed=seed), calls, options)
    with open_mapper(options) as mapper:
        return generate_questions(
            *(scenarios, count, seed),
            sizes=sizes,
            difficulty=difficulty,
            per_database=per_database,
            like_release=like_release,
            resistance=resistance,
            mapper=mapper,
        )


def resistance_of(
    resist: Named | Sequence[Named],
    deciding: Deciding | None = None,
    calls: CallOptions = DEFAULT_CALLS,
    options: RunOptions = DEFAULT_RUN,
) -> DecidersErr | None:
    """Return what tells which questions some deciders get wrong; None without deciders."""
    names, given = name_deciders(resist)
    if not names:
        return None
    connected = connect(deciding or Deciding(), names, calls, given=GivenObjects(given))
    connected.check_reachable()
    return DecidersErr(connected, options)


class DecidersErr:
    """Tells the questions that some deciders get wrong; see `dqa.scenarios.generation.Resistance`.

    Every question is asked under its own number, as its place in the set is not known yet. So a
    decider that draws by a question's number draws differently in the set.

    Parameters
    ----------
    connected
        The deciders, and their models.
    options
        How many of them decide at once.
    """

    def __init__(self, connected: Connected, options: RunOptions) -> None:
        self._connected = connected
        self._options = options
        self._targets = targets_of((_DATABASE,))
        self._setups: dict[str, Setup] = {}
        self._asked = 0
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in connected.models}
        self._crashes = Crashes(fail_fast=options.fail_fast)

    def keeps(self, situation: Situation, asked: Sequence[LabelledQuestion]) -> Sequence[bool]:
        """Return for each of the questions about a situation whether every decider errs on it."""
        numbered = [
            LabelledQuestion(replace(question, id=f"drawn-{self._asked + number}"), truth)
            for number, (question, truth) in enumerate(asked, 1)
        ]
        self._asked += len(asked)
        setup = replace(
            self._setup(numbered[0].question, situation),
            questions=QuestionSet.of("drawn", numbered, {situation.name: situation}),
        )
        wrong: Counter[str] = Counter()
        tasks, options = plan(setup), self._options
        worker = Worker(setup, Judge(setup.questions), options.patience, options.workers)
        with closing(worker), ThreadPoolExecutor(options.workers) as threads:
            for task, decision in zip(tasks, threads.map(worker.make, tasks), strict=True):
                right = decision.choice in setup.questions.truth_of(task.question).answers
                wrong[task.question.key] += self._is_wrong(task, decision, right=right)
        return [wrong[question.key] == len(setup.deciders) for question, _ in numbered]

    def told(self) -> str:
        """Return how often each decider was right until now."""
        return "; ".join(
            f"{name}: {count['right']} right, {count['wrong']} wrong"
            + (f", no answer {count['no answer']}" if count["no answer"] else "")
            for name, count in self._counts.items()
        )

    def _setup(self, question: Question, situation: Situation) -> Setup:
        """Return a scenario's deciders: those that decide such a question at all."""
        scenario = question.scenario
        if scenario not in self._setups:
            rules = plugins.generator(scenario).label_rules(situation)
            (made,) = self._connected.deciders(next(iter(rules), None))
            refused: list[str] = []
            able: dict[str, Decider] = {}
            for name, decider in made.items():
                try:
                    decider.check(question)
                    able[name] = decider
                except UsageError as error:
                    refused.append(f"{name}: {error}")
            if not able:
                raise UsageError(
                    f"resist names no decider that decides questions of '{scenario}': "
                    f"name one for it, or leave that scenario out. {' '.join(refused)}"
                )
            nothing = QuestionSet("drawn", (), {})
            self._setups[scenario] = Setup(nothing, self._targets, able, self._connected.models)
        return self._setups[scenario]

    def _is_wrong(self, task: Task, decision: Decision, *, right: bool) -> bool:
        """Count a decision; raise if no further decision would be made. No answer is not wrong."""
        self._crashes.count(str(task.key), decision)
        counts, is_answered = self._counts[task.decider], decision.ending is Ending.ANSWERED
        counts["no answer" if not is_answered else "right" if right else "wrong"] += 1
        if decision.ending is Ending.BUDGET:
            raise BudgetSpentError(
                f"The budget was spent before enough questions were found that resist: "
                f"{self.told()}. Raise it, or ask for fewer questions."
            )
        is_outage = decision.ending is Ending.INFRASTRUCTURE
        counts["outages"] = counts["outages"] + 1 if is_outage else 0
        if counts["outages"] >= MOST_IN_A_ROW:
            raise InfrastructureError(
                f"{task.decider} gave no answer {MOST_IN_A_ROW} times in a row: {decision.error}. "
                "Fix that first: questions can only be kept that it answers."
            )
        return is_answered and not right
