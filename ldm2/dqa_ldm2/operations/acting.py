"""Operations that act: action and tree exploration (Table 4, equations 2 and 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dqa.core.trajectories import Trajectory
from dqa.deciders.actions import Chosen, read_choice
from dqa.models.conversation import Conversation
from dqa_ldm2.events import ConfidencesEvent, Confident, ImitationEvent, Subgoal
from dqa_ldm2.likeness import nearest_tuple
from dqa_ldm2.memory.base import Remembered
from dqa_ldm2.prompting import cut, cut_remembered, cut_steps, cut_trajectories, prompt
from dqa_ldm2.replies import Confidences, ask_for_most, read_confidences
from dqa_ldm2.situation import Situation

_MOST = 40_000
"""Most characters of what was seen before."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known where somebody is to act, beside the situation.

    Attributes
    ----------
    remembered
        The retrieved tuples, the most like first: the context prompt of equation 3.
    history
        The summary of what was done; None to show the steps themselves.
    subgoals
        How far the goal is reached; () where nobody judged that.
    """

    remembered: Sequence[Remembered] = ()
    history: str | None = None
    subgoals: Sequence[Subgoal] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """What a baseline shows in place of remembered tuples.

    Attributes
    ----------
    examples
        Whole decision processes.
    thoughts
        What was thought before the steps of this process, by their numbers.
    reflections
        Lessons of earlier trials.
    thinks
        Whether it thinks before it acts.
    """

    examples: Sequence[Trajectory] = ()
    thoughts: Mapping[int, str] = field(default_factory=dict)
    reflections: Sequence[str] = ()
    thinks: bool = False


def act(
    situation: Situation, known: Known, conversation: Conversation, most: int = _MOST
) -> Chosen:
    """Return the action (equation 2), and tell which remembered tuple it comes from.

    Raises
    ------
    UnparsableReplyError
        No reply names a legal action.
    """
    text = _prompt("action", situation, known, most)
    chosen = conversation.ask(
        text,
        lambda reply: read_choice(reply, situation.actions, situation.noun, situation.free_form),
        "action",
    )
    nearest, is_same = nearest_tuple(str(chosen.action), known.remembered)
    recorder = conversation.recorder
    recorder.note(
        ImitationEvent(
            step=recorder.steps,
            action=chosen.action,
            reasoning=chosen.reasoning,
            tuple_id=None if nearest is None else nearest.id,
            source="" if nearest is None else nearest.placed.content.source,
            is_same=is_same,
        )
    )
    return chosen


def explore(
    situation: Situation, known: Known, paths: int, conversation: Conversation, most: int = _MOST
) -> Confidences:
    """Return possible actions with confidences that add up to 1 (equation 9).

    Parameters
    ----------
    situation
        Where somebody is.
    known
        What is remembered of it.
    paths
        How many actions are asked for at most.
    conversation
        What is asked in.
    most
        Most characters of what was seen before.

    Raises
    ------
    UnparsableReplyError
        No reply names a legal action.
    """
    text = _prompt("exploration", situation, known, most, count=paths)
    found = ask_for_most(
        conversation,
        text,
        lambda reply: read_confidences(
            reply, situation.actions, situation.noun, situation.free_form, paths
        ),
        "possible actions",
    )
    recorder = conversation.recorder
    recorder.note(confidences_event(found, recorder.steps))
    return found


def act_as_shown(
    situation: Situation, whole: Whole, conversation: Conversation, most: int = _MOST
) -> Chosen:
    """Return the action of a baseline that is shown whole examples (section 4.2)."""
    text = prompt(
        "whole",
        goal=situation.goal,
        rules=situation.rules,
        processes=cut_trajectories(whole.examples, most),
        first=1,
        reflections=whole.reflections,
        process=cut_steps(situation.steps, most),
        thoughts=whole.thoughts,
        observation=cut(situation.observation, most),
        left=situation.left,
        thinks=whole.thinks,
        legal=[str(action) for action in situation.actions],
        free_form=situation.free_form,
    )
    return conversation.ask(
        text,
        lambda reply: read_choice(reply, situation.actions, situation.noun, situation.free_form),
        "action",
    )


def confidences_event(
    found: Confidences, step: int = 0, majority: float | None = None
) -> ConfidencesEvent:
    """Return the event that tells of possible actions."""
    return ConfidencesEvent(
        step=step,
        actions=tuple(
            Confident(action=action, confidence=min(max(value, 0.0), 1.0))
            for action, value in found.actions
        ),
        said=found.said,
        missing=found.missing,
        dropped=found.dropped,
        majority=majority,
    )


def _prompt(name: str, situation: Situation, known: Known, most: int, count: int = 0) -> str:
    process = None if known.history is not None else cut_steps(situation.steps, most)
    return prompt(
        name,
        goal=situation.goal,
        rules=situation.rules,
        remembered=cut_remembered(known.remembered),
        process=process,
        first=1,
        history=known.history or "",
        subgoals=known.subgoals,
        observation=cut(situation.observation, most),
        left=situation.left,
        legal=[str(action) for action in situation.actions],
        free_form=situation.free_form,
        most=count,
    )
