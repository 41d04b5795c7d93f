"""The operations of LDM2 and its baselines (Table 4); each has a prompt and a typed reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from dqa.core.decider import Step, Trajectory
from dqa.core.errors import UnparsableReplyError
from dqa.core.events import WarningEvent
from dqa.deciders.method import Asking
from dqa.deciders.replies import Choice
from dqa_ldm2 import replies
from dqa_ldm2.likeness import nearest_tuple, nearest_type
from dqa_ldm2.records import MemoryType, Remembered
from dqa_ldm2.situation import Situation

PACKAGE: Final = "dqa_ldm2"
Kind: TypeAlias = Literal["goal", "observation"]
"""The kind of texts that an index sorts into types."""

MOST: Final = 40_000
"""The default maximum number of characters of past observations in a prompt."""
_LONGEST, _EXAMPLE, _OLD, _MARK = 1_500, 2_000, 120, 40
"""The maximum number of characters of a text to sort, of a remembered text, and of an old
observation. A text that exceeds its maximum by at most `_MARK` characters is not cut."""
_SHOWN, _SHORT = 3, 400
"""The maximum number of examples of a type, and of characters of an example."""


@dataclass(frozen=True, slots=True)
class Known:
    """The content that a prompt of LDM2 shows in addition to the situation.

    Attributes
    ----------
    remembered
        The retrieved tuples (equation 3), the most similar first.
    history
        The summary of the steps so far. If it is None, the prompt shows the steps.
    subgoals
        The judged subgoals in the form that tuples store; "" if there are none.
    """

    remembered: Sequence[Remembered] = ()
    history: str | None = None
    subgoals: str = ""


@dataclass(frozen=True, slots=True)
class Examples:
    """The examples that a baseline shows instead of remembered tuples.

    Attributes
    ----------
    processes
        Whole decision processes.
    thoughts
        The thoughts before the steps of `processes`; () if there are none.
    own
        The thoughts before the steps of the current process.
    reflections
        The lessons of earlier trials.
    thinks
        Whether the model thinks before it acts.
    """

    processes: Sequence[Trajectory] = ()
    thoughts: Sequence[Sequence[str]] = ()
    own: Sequence[str] = ()
    reflections: Sequence[str] = ()
    thinks: bool = False


def evaluate(
    asking: Asking,
    situation: Situation,
    before: Sequence[replies.Subgoal],
    history: str | None,
    most: int = MOST,
) -> tuple[replies.Subgoal, ...]:
    """Return the subgoals of the goal, and for each subgoal whether it is complete.

    If there is a previous judgement (`before`), the model judges the same subgoals again. Otherwise
    the model first divides the goal into subgoals. If `history` is None, the prompt shows all
    steps.
    """
    values = _values(situation, most) | {"before": before, "history": history}
    if not before:
        return asking.ask("evaluation", replies.Evaluation, **values).subgoals
    judged = asking.ask("evaluation", replies.Judgement, context=len(before), note=False, **values)
    subgoals = tuple(
        one.model_copy(update={"complete": number in judged.complete})
        for number, one in enumerate(before, 1)
    )
    asking.note("evaluation", replies.Evaluation(subgoals=subgoals))
    return subgoals


@dataclass(slots=True)
class History:
    """Summarise the steps of one decision process (equation 6). Not thread-safe.

    The model summarises only new steps. If the first observation shows only the goal, the model is
    not asked about the first step. If `exact` is true, the model is asked about every step, as in
    the paper.
    """

    exact: bool = False
    _goal: str = ""
    _steps: tuple[Step, ...] = ()
    _summary: str = ""

    def summarise(self, asking: Asking, goal: str, steps: Sequence[Step], most: int = MOST) -> str:
        """Extend the previous summary, and return the summary of all steps; "" for no steps."""
        steps = tuple(steps)
        if len(steps) == 1 and not self.exact and _shows_only(goal, steps[0].observation):
            return f"Did {steps[0].action}."
        known = len(self._steps)
        if goal != self._goal or steps[:known] != self._steps:
            known = 0
        if known < len(steps):
            shown = cut_steps(steps[known:], most)
            before = self._summary if known else ""
            values: dict[str, Any] = {"goal": goal, "rules": "", "first": known + 1}
            summary = asking.ask(
                "summary", replies.Summary, before=before, steps=shown, **values
            ).summary
            self._goal, self._steps, self._summary = goal, steps, summary
        return self._summary if steps else ""


def cluster(
    asking: Asking, kind: Kind, texts: Sequence[str], known: Sequence[str]
) -> replies.Clusters:
    """Return the types of goals (equation 7) or observations (equation 8).

    The model can reuse types in `known`.
    """
    shown = [cut(text, _LONGEST) for text in texts]
    return asking.ask(
        *("cluster", replies.Clusters),
        context=len(texts),
        label=f"types of {kind}s",
        kind_of=kind,
        texts=shown,
        known=list(known),
    )


def find_type(  # noqa: PLR0913  (independent parameters)
    asking: Asking,
    kind: Kind,
    text: str,
    types: Sequence[MemoryType],
    batch: int = 0,
    *,
    asks: bool = True,
) -> str:
    """Return the type of a new text; "" if there are no types.

    The model is not asked if there is only one type, or if the text is an example of exactly one of
    several types. If `asks` is false or no reply can be used, the type with the most similar words
    is returned.
    """
    exact = [one.name for one in types if text in (one.name, *one.examples)]
    found, how = exact[0] if exact else "", "known text"
    if len(types) == 1:
        found, how = types[0].name, "only type"
    elif len(exact) != 1 and types:
        found, how = nearest_type(text, types), "words"
        if asks:
            try:
                found, how = _ask_type(asking, kind, text, types), "model"
            except UnparsableReplyError:
                how = "words, because no reply could be used"
    if asks:
        asking.note("index", replies.Indexed(of=kind, type=found, batch=batch, how=how))
    return found


def _ask_type(asking: Asking, kind: Kind, text: str, types: Sequence[MemoryType]) -> str:
    shown = [
        MemoryType(one.name, one.size, tuple(cut(e, _SHORT) for e in one.examples[:_SHOWN]))
        for one in types
    ]
    number = asking.ask(
        *("index", replies.TypeNumber),
        context=len(types),
        label=f"{kind} type",
        kind_of=kind,
        types=shown,
        text=cut(text, _LONGEST),
    ).type
    return types[number - 1].name


def act(asking: Asking, situation: Situation, known: Known, most: int = MOST) -> Choice:
    """Return the action (equation 2), and record the remembered tuple that it imitates.

    Raises
    ------
    UnparsableReplyError
        No reply names a legal action.
    """
    values = _values(situation, most) | _remembered(known)
    choice = asking.ask("action", Choice, context=situation.options, **values)
    note_imitation(asking, choice, known.remembered)
    return choice


def note_imitation(asking: Asking, choice: Choice, remembered: Sequence[Remembered]) -> None:
    """Record the remembered tuple that an action imitates."""
    nearest, is_same = nearest_tuple(str(choice.action), remembered)
    imitation = replies.Imitation(
        action=choice.action,
        tuple_id=None if nearest is None else nearest.id,
        source="" if nearest is None else nearest.source,
        is_same=is_same,
    )
    asking.note("imitation", imitation)


def explore(
    asking: Asking, situation: Situation, known: Known, paths: int, most: int = MOST
) -> replies.Exploration:
    """Return at most `paths` possible actions with confidences (equation 9).

    Raises
    ------
    UnparsableReplyError
        No reply names a legal action.
    """
    values = _values(situation, most) | _remembered(known)
    return asking.ask(
        "exploration", replies.Exploration, context=situation.options, most=paths, **values
    )


def act_as_shown(
    asking: Asking, situation: Situation, examples: Examples, most: int = MOST
) -> Choice:
    """Return the action of a baseline whose prompt shows whole examples (section 4.2)."""
    values = _values(situation, most)
    processes = cut_trajectories(examples.processes, most)
    shown = replace(examples, processes=processes)
    return asking.ask("whole", Choice, context=situation.options, shown=shown, **values)


def think(asking: Asking, processes: Sequence[Trajectory], most: int = MOST) -> replies.Thoughts:
    """Return the thoughts before each step of examples, as ReAct shows them."""
    shown = cut_trajectories(processes, most)
    return asking.ask("thoughts", replies.Thoughts, processes=shown, first=1)


def choose(asking: Asking, processes: Sequence[Trajectory], most: int = MOST) -> int:
    """Return the number of the best process, counted from 1 (equation 5).

    The prompt shows no rewards.

    If no reply can be used, return 1 and record a warning.
    """
    if len(processes) == 1:
        return 1
    try:
        return asking.ask(
            "choice", replies.BestProcess, context=len(processes), **_processes(processes, most)
        ).best
    except UnparsableReplyError:
        text = f"No reply chooses one of {len(processes)} decision processes. Process 1 is used."
        warn(asking, text, 1, len(processes))
        return 1


def compare(asking: Asking, best: Trajectory, ground: Trajectory, most: int = MOST) -> int:
    """Ask which step makes `best` better than `ground`; the first step is 1 (equation 10).

    If no reply can be used, return the first step that differs and record a warning.
    """
    values = _processes((best, ground), most)
    try:
        return asking.ask("comparison", replies.KeyStep, context=len(best.steps), **values).step
    except UnparsableReplyError:
        first = min(first_difference(best.steps, ground.steps), len(best.steps))
        text = f"No reply names the key step. The first step that differs, step {first}, is used."
        warn(asking, text)
        return first


def first_difference(best: Sequence[Step], ground: Sequence[Step]) -> int:
    """Return the number (counted from 1) of the first step in which two processes differ."""
    pairs = zip(best, ground, strict=False)
    differ = (number for number, (one, other) in enumerate(pairs, 1) if one != other)
    return next(differ, min(len(best), len(ground)) + 1)


def reflect(asking: Asking, trials: Sequence[Trajectory], rules: str, most: int = MOST) -> str:
    """Return the lesson for the next trial (Reflexion)."""
    values = _processes(trials, most) | {"rules": rules}
    return asking.ask("reflection", replies.Reflection, **values).reflection


def warn(asking: Asking, text: str, considered: int = 0, total: int = 0) -> None:
    """Record a warning about the memory, if its text is new."""
    record = asking.recorder
    record.warn_once(
        WarningEvent(
            step=record.steps, about="memory", text=text, considered=considered, total=total
        )
    )


def _shows_only(goal: str, observation: str) -> bool:
    """Return whether an observation contains the goal and hardly any other text."""
    return goal in observation and len(observation) <= len(goal) + _MARK


def described(subgoals: Iterable[replies.Subgoal]) -> str:
    """Return judged subgoals as the text that tuples store, with one subgoal per line."""
    return "\n".join(
        f"{one.goal}: {'complete' if one.complete else 'not complete'}" for one in subgoals
    )


def last_actions(steps: Sequence[Step]) -> str:
    """Return the last actions as text. The text replaces the history if there is no summary."""
    return "; ".join(step.action for step in steps[-8:])


def cut(text: str, most: int) -> str:
    """Return a text. If it is too long, cut it, and add the number of cut characters."""
    if len(text) <= most + _MARK:
        return text
    return f"{text[:most].rstrip()} [... {len(text) - most} more characters]"


def cut_steps(steps: Sequence[Step], most: int) -> list[Step]:
    """Return all steps, with early observations cut to at least `_OLD` characters.

    All observations together have about `most` characters.
    """
    shown: list[Step] = []
    for step in reversed(steps):
        seen = cut(step.observation, max(most, _OLD))
        most -= len(seen)
        shown.append(replace(step, observation=seen))
    return shown[::-1]


def cut_trajectories(processes: Iterable[Trajectory], most: int) -> list[Trajectory]:
    """Shorten the observations of processes to about `most` characters in total."""
    listed = list(processes)
    share = most // max(len(listed), 1)
    return [
        replace(one, steps=tuple(cut_steps(one.steps, share)), end=cut(one.end, _EXAMPLE))
        for one in listed
    ]


def _values(situation: Situation, most: int) -> dict[str, Any]:
    """Return the variables of a prompt that describe a situation."""
    return {
        "goal": situation.goal,
        "rules": situation.rules,
        "steps": cut_steps(situation.steps, most),
        "first": 1,
        "observation": cut(situation.observation, most),
        "left": situation.left,
        "legal": [str(action) for action in situation.actions],
        "free_form": situation.free_form,
    }


def _remembered(known: Known) -> dict[str, Any]:
    shown = [
        replace(one, observation=cut(one.observation, _EXAMPLE), history=cut(one.history, _EXAMPLE))
        for one in known.remembered
    ]
    return {"remembered": shown, "history": known.history, "subgoals": known.subgoals}


def _processes(processes: Sequence[Trajectory], most: int) -> dict[str, Any]:
    shown = cut_trajectories(processes, most)
    return {"goal": processes[0].goal, "rules": "", "processes": shown, "first": 1}
