"""Operations that judge what was done: evaluation, summary, choice, comparison (Table 4)."""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.errors import UnparsableReplyError
from dqa.core.events import WarningEvent
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.replies import read_object
from dqa.models.conversation import Conversation
from dqa_ldm2.events import (
    EvaluationEvent,
    KeyStepEvent,
    ProcessChosenEvent,
    ReflectionEvent,
    Subgoal,
    SummaryEvent,
)
from dqa_ldm2.prompting import cut, cut_steps, cut_trajectories, prompt
from dqa_ldm2.replies import read_number, read_subgoals, read_text
from dqa_ldm2.situation import Situation

_MOST = 40_000
"""Most characters of what is seen in steps that are judged."""


def evaluate(
    situation: Situation, before: Sequence[Subgoal], conversation: Conversation, most: int = _MOST
) -> tuple[Subgoal, ...]:
    """Return the goal's subgoals, each with whether what was done completes it.

    Parameters
    ----------
    situation
        The goal, and what was done.
    before
        The subgoals as they were judged last; () for the first time.
    conversation
        What is asked in.
    most
        Most characters of what was seen.

    Raises
    ------
    UnparsableReplyError
        No reply judges any subgoal.
    """
    text = prompt(
        "evaluation",
        goal=situation.goal,
        rules=situation.rules,
        steps=cut_steps(situation.steps, most),
        first=1,
        observation=cut(situation.observation, most),
        before=before,
    )
    found = conversation.ask(text, read_subgoals, "subgoals")
    recorder = conversation.recorder
    recorder.note(EvaluationEvent(step=recorder.steps, subgoals=found))
    return found


def summarise(  # noqa: PLR0913  (each is a question of its own to the caller)
    goal: str,
    steps: Sequence[Step],
    conversation: Conversation,
    *,
    before: str = "",
    known: int = 0,
    most: int = _MOST,
) -> str:
    """Return the history of steps (equation 6); nothing is asked where there are none.

    Parameters
    ----------
    goal
        What was to be reached.
    steps
        All of them, in order.
    conversation
        What is asked in.
    before, known
        The summary of the first `known` steps, which is shown in their place.
    most
        Most characters of what was seen.

    Raises
    ------
    UnparsableReplyError
        No reply has a summary.
    """
    if not steps:
        return ""
    text = prompt(
        "summary",
        goal=goal,
        rules="",
        before=before,
        steps=cut_steps(steps[known:], most),
        first=known + 1,
    )
    found = conversation.ask(text, lambda reply: read_text(reply, "summary"), "summary")
    recorder = conversation.recorder
    recorder.note(SummaryEvent(step=recorder.steps, text=found, steps=len(steps), known=known))
    return found


def choose(processes: Sequence[Trajectory], conversation: Conversation, most: int = _MOST) -> int:
    """Return which process is the best, from 1 (equation 5); no reward is shown.

    Raises
    ------
    UnparsableReplyError
        No reply names one.
    """
    recorder = conversation.recorder
    if len(processes) == 1:
        recorder.note(ProcessChosenEvent(step=recorder.steps, best=1, of=1, by="only"))
        return 1

    def read(reply: str) -> tuple[int, str]:
        reasoning = read_object(reply, "best").get("reasoning", "")
        best = read_number(reply, "best", len(processes))
        return best, reasoning if isinstance(reasoning, str) else ""

    text = prompt(
        "choice",
        goal=processes[0].goal,
        rules="",
        processes=cut_trajectories(processes, most),
        first=1,
    )
    try:
        best, reasoning = conversation.ask(text, read, "choice of a process")
    except UnparsableReplyError:
        best, reasoning = 1, ""
        recorder.warn_once(
            WarningEvent(
                step=recorder.steps,
                about="replies",
                text=f"No reply says which of {len(processes)} decision processes is the best: the "
                "first one counts.",
                considered=1,
                total=len(processes),
            )
        )
    recorder.note(
        ProcessChosenEvent(step=recorder.steps, best=best, of=len(processes), reasoning=reasoning)
    )
    return best


def first_difference(best: Sequence[Step], ground: Sequence[Step]) -> int:
    """Return the first step, from 1, at which two processes differ.

    Where one is the beginning of the other, it is the step behind the shorter one.
    """
    pairs = zip(best, ground, strict=False)
    for number, (one, other) in enumerate(pairs, 1):
        if one != other:
            return number
    return min(len(best), len(ground)) + 1


def compare(
    best: Trajectory, ground: Trajectory, conversation: Conversation, most: int = _MOST
) -> KeyStepEvent:
    """Return the key step, at which the better process leaves the ground process (equation 10).

    The model is asked, and what it says is checked against the first real difference, which
    counts where the two are not the same, or no reply names a step.
    """
    real = first_difference(best.steps, ground.steps)
    text = prompt(
        "comparison",
        goal=best.goal,
        rules="",
        processes=cut_trajectories((best, ground), most),
        first=1,
    )
    said: int | None
    try:
        said = conversation.ask(
            text, lambda reply: read_number(reply, "step", len(best.steps)), "comparison"
        )
    except UnparsableReplyError:
        said = None
    recorder = conversation.recorder
    event = KeyStepEvent(step=recorder.steps, key_step=real, said=said)
    recorder.note(event)
    return event


def reflect(
    trials: Sequence[Trajectory], rules: str, conversation: Conversation, most: int = _MOST
) -> str:
    """Return what the next trial is to do otherwise, by the rewards of those before (Reflexion)."""
    text = prompt(
        "reflection",
        goal=trials[0].goal,
        rules=rules,
        processes=cut_trajectories(trials, most),
        first=1,
    )
    found = conversation.ask(text, lambda reply: read_text(reply, "reflection"), "reflection")
    recorder = conversation.recorder
    recorder.note(ReflectionEvent(step=recorder.steps, text=found, trials=len(trials)))
    return found
