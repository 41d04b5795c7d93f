"""Which question or episode a remembered step comes from, whatever it was called.

The source of a trajectory ends with a word that says it: the scenario, a hash of what the question
is about (its target), and a hash of its words. A question that shares either of the hashes is the
same question, so nothing of it may be retrieved where it is asked: an evaluation would be shown its
answer. A tuple without such a word is the same question's where its goal has the same words. Of an
episode, which has no target, the words are its goal and what was seen first.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from dqa.core.question import Question
from dqa.core.trajectories import Trajectory
from dqa.deciders.prompting import fold

_WORD: Final = re.compile(
    r"(?P<scenario>[^\s#]+)#(?P<target>[0-9a-f]{16}|-)#(?P<text>[0-9a-f]{16})"
)


@dataclass(frozen=True, slots=True)
class QuestionIdentity:
    """What tells a question from others.

    Attributes
    ----------
    scenario
        Its scenario's name.
    target
        Hash of its scenario and its target; ``-`` where it has none.
    text
        Hash of its words.
    words
        The words, as they are compared; empty where only the hash is known.
    """

    scenario: str
    target: str
    text: str
    words: str = ""

    @classmethod
    def of(cls, question: Question) -> Self:
        """Return the identity of a question."""
        return cls.told(question.scenario, question.target, question.text)

    @classmethod
    def told(cls, scenario: str, target: Mapping[str, str], text: str) -> Self:
        """Return the identity of what a trace tells of a question."""
        about = json.dumps([scenario, sorted(target.items())]) if target else ""
        words = fold(text)
        return cls(scenario, _hash(about) if about else "-", _hash(words), words)

    @classmethod
    def of_episode(cls, world: str, goal: str, beginning: str, named: str = "") -> Self:
        """Return the identity of an episode: what was to be reached and seen first, or its own."""
        return cls.told(world, {}, named or f"{goal}\n{beginning}").without_words()

    @classmethod
    def in_source(cls, source: str) -> Self | None:
        """Return the identity at the end of a source; None where there is none."""
        word = source.rsplit(maxsplit=1)[-1:] or [""]
        found = _WORD.fullmatch(word[0])
        return None if found is None else cls(found["scenario"], found["target"], found["text"])

    def without_words(self) -> Self:
        """Return it for goals whose words many share, as those of a game's moves are."""
        return replace(self, words="")

    def is_same(self, other: QuestionIdentity | None) -> bool:
        """Whether two are one question: about the same, or in the same words."""
        if other is None:
            return False
        return self.text == other.text or (self.target == other.target != "-")

    @property
    def scenario_word(self) -> str:
        """The scenario as sources say it."""
        return re.sub(r"[\s#]+", "-", self.scenario)

    def source(self, *words: str) -> str:
        """Return a source of this question's: what it is called, with its identity behind."""
        word = f"{self.scenario_word}#{self.target}#{self.text}"
        return " ".join([*filter(None, words), word])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def identified(trajectory: Trajectory) -> Trajectory:
    """Return an episode whose source ends with its identity, as that of a question does."""
    if not trajectory.steps or QuestionIdentity.in_source(trajectory.source) is not None:
        return trajectory
    world = (trajectory.source.split() or [""])[0]
    identity = QuestionIdentity.of_episode(
        world, trajectory.goal, trajectory.steps[0].observation, trajectory.identity
    )
    return replace(trajectory, source=identity.source(trajectory.source))
