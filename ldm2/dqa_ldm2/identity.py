"""Recognise tuples that come from the current question or episode.

A decider must not see the answer to its own question, so tuples of the same question are never
retrieved. The source of a trajectory therefore ends with a word that identifies the question: the
scenario, a hash of the question's target, and a hash of its text. Questions with the same target or
the same text count as one question. An episode has no target; its text is its goal and first
observation.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import Final, Self

from dqa.core.decider import Trajectory
from dqa.core.question import Question
from dqa.deciders.prompting import fold

_WORD: Final = re.compile(
    r"(?P<scenario>[^\s#]+)#(?P<target>[0-9a-f]{16}|-)#(?P<text>[0-9a-f]{16})"
)


@dataclass(frozen=True, slots=True)
class QuestionIdentity:
    """The identity of a question or an episode.

    Attributes
    ----------
    scenario
        The name of the scenario.
    target
        A hash of the scenario and the target; ``-`` without a target.
    text
        A hash of the text.
    words
        The normalised text; empty if only the hash is known.
    """

    scenario: str
    target: str
    text: str
    words: str = ""

    @classmethod
    def of(cls, question: Question) -> Self:
        """Return the identity of a question."""
        scenario, target = question.scenario, question.target
        about = json.dumps([scenario, sorted(target.items())]) if target else ""
        words = fold(question.text)
        return cls(scenario, _hash(about) if about else "-", _hash(words), words)

    @classmethod
    def of_episode(cls, world: str, goal: str, beginning: str, named: str = "") -> Self:
        """Return the identity of an episode.

        The text of the identity is `named`, the name of the episode. Without a name, the text is
        the goal and the first observation (`beginning`).
        """
        return cls(world, "-", _hash(fold(named or f"{goal}\n{beginning}")))

    @classmethod
    def in_source(cls, source: str) -> Self | None:
        """Return the identity at the end of a source; None if the source has no identity."""
        word = source.rsplit(maxsplit=1)[-1:] or [""]
        found = _WORD.fullmatch(word[0])
        return None if found is None else cls(found["scenario"], found["target"], found["text"])

    def without_words(self) -> Self:
        """Return the identity without `words`.

        Questions with equal goals then count as different questions. For example, all moves of a
        game have the same goal.
        """
        return replace(self, words="")

    def is_same(self, other: QuestionIdentity | None) -> bool:
        """Return whether both identities belong to the same question."""
        if other is None:
            return False
        return self.text == other.text or (self.target == other.target != "-")

    def source(self, *words: str) -> str:
        """Return the source of a trajectory of this question: `words`, followed by the identity."""
        scenario = re.sub(r"[\s#]+", "-", self.scenario)
        word = f"{scenario}#{self.target}#{self.text}"
        return " ".join([*filter(None, words), word])


def identified(trajectory: Trajectory) -> Trajectory:
    """Return the trajectory of an episode, after adding the episode's identity to its source."""
    if not trajectory.steps or QuestionIdentity.in_source(trajectory.source) is not None:
        return trajectory
    world = (trajectory.source.split() or [""])[0]
    identity = QuestionIdentity.of_episode(
        world, trajectory.goal, trajectory.steps[0].observation, trajectory.identity
    )
    return replace(trajectory, source=identity.source(trajectory.source))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
