"""The prompts of BIDDER and its baselines, filled in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dqa.core.question import Candidate
from dqa.deciders.prompting import fill_in
from dqa.worlds.world import Position
from dqa_bidder.events import HiddenState
from dqa_bidder.task import Task


def prompt(  # noqa: PLR0913  (what a prompt shows, each on its own)
    name: str,
    task: Task,
    position: Position | None,
    legal: Iterable[Candidate],
    *,
    hidden: tuple[HiddenState, ...] = (),
    root: bool = True,
    **values: Any,  # noqa: ANN401  (whatever the template names)
) -> str:
    """Fill in the prompt called `name`.

    Parameters
    ----------
    name
        Which.
    task
        What is decided.
    position
        The state that it is about; None for a question that is no move.
    legal
        What can be done there.
    hidden
        What is inferred of others.
    root
        Whether the state is the one that the question is about, and no explored one.
    values
        What else the template names.
    """
    situation = fill_in(
        "dqa_bidder", "situation", task=task, position=position, hidden=hidden, root=root
    )
    mover = values.pop("mover", task.mover if position is None else position.mover)
    return fill_in(
        "dqa_bidder",
        name,
        situation=situation,
        position=position,
        mover=mover,
        legal=[str(action) for action in legal],
        form=task.form,
        hidden=hidden,
        **values,
    )
