"""Imitating by rule: what was done there, with the names and numbers that things have here.

Nothing is known of any world. An example whose goal, history and observation share many words with
the situation counts more; words of its goal are exchanged for those that stand in their place in
this goal; of the legal actions those are better that say nearly the same, name what the goal names,
and were not done already. It is a real policy without a model, and an imperfect one: it does badly
where nothing like the situation is remembered, so it gets better by a memory that is refined.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from hashlib import sha256

from dqa.core.question import fits_form
from dqa_ldm2.likeness import likeness, words_of
from dqa_ldm2.scripted.reading import Asked, Example

_WORD = re.compile(r"[^\W_]+")
_DONE_AGAIN = 0.25
"""What an action counts for that was done before, each time."""
_DONE_LONG_AGO = 0.7
"""The same where something of another kind was done since."""
_NAMED, _BESIDE = 0.15, 0.1
"""What it adds that an action names all of what the goal names, or stands beside it."""
_UNNAMED, _SHORT = 0.5, 2
"""What an action counts for that does not name what the goal wants; shorter words do not count."""
_NUMBER_WEIGHT = 0.3
"""What a number in an action counts for, beside 1 for a word."""
_SHARPNESS = 6.0
"""How much more confident an action is that fits better."""


def rank_actions(asked: Asked, script: str, seed: int) -> dict[str, float]:
    """Return the actions that may be taken, each with how well it fits, the best first.

    Parameters
    ----------
    asked
        The prompt.
    script
        ``random`` draws; ``greedy`` imitates the first example alone; others weigh all of them.
    seed
        Of what is drawn.
    """
    if script == "random":
        drawn = {one: _drawn(asked, one, seed) for one in asked.legal or _written(asked)}
        return dict(sorted(drawn.items(), key=lambda pair: -pair[1]))
    done = [step.action for step in asked.steps] or _done_in(asked.history)
    examples = _moments(asked)
    weighed = [(_weight(one, asked), one) for one in examples]
    if script == "greedy":
        weighed = weighed[:1]
    worth: dict[str, float] = {}
    for action in (*asked.legal, *_written(asked)):
        fits = max((weight * _fits(one, asked, action) for weight, one in weighed), default=0.0)
        fits += _NAMED * _named(action, asked) + _BESIDE * _beside(action, asked)
        worth[action] = fits * _repeated(action, done)
    return dict(sorted(worth.items(), key=lambda pair: -pair[1]))


def confidences(worth: Mapping[str, float], most: int) -> dict[str, float]:
    """Return the best actions with confidences that add up to 1."""
    best = list(worth)[:most]
    weights = {one: (worth[one] + 1e-6) ** (_SHARPNESS / 2) for one in best}
    total = sum(weights.values())
    return {one: weights[one] / total for one in best}


def _moments(asked: Asked) -> list[Example]:
    """Return what is remembered, a step each; the steps of whole examples are told apart."""
    moments: list[Example] = []
    for one in asked.remembered:
        for number, step in enumerate(one.steps):
            told = "; ".join(earlier.action for earlier in one.steps[:number])
            moments.append(Example(one.goal, (step,), one.history or told))
    return moments


def _weight(one: Example, asked: Asked) -> float:
    """Return how like a remembered situation is, from 0 to 1."""
    history = asked.history or "; ".join(step.action for step in asked.steps)
    return (
        0.2
        + 0.3 * _near(one.steps[0].observation, asked.observation)
        + 0.3 * _near(one.history, history)
        + 0.2 * _near(one.goal, asked.goal)
    )


def _near(one: str, other: str) -> float:
    return likeness(words_of(one), words_of(other))


def _renamed(one: Example, asked: Asked) -> dict[str, str]:
    """Return the words of this goal by those in whose place they stand, told from their ends."""
    there, here = words_of(one.goal), words_of(asked.goal)
    renamed: dict[str, str] = {}
    for kind, i, j, k, m in SequenceMatcher(None, there, here, autojunk=False).get_opcodes():
        if kind == "replace":
            renamed |= dict(zip(there[i:j][::-1], here[k:m][::-1], strict=False))
    return renamed


def _adapted(one: Example, renamed: Mapping[str, str]) -> str:
    """Return what was done there, with the words of this goal for those of that one."""
    done = one.steps[0].action
    return _WORD.sub(lambda found: renamed.get(found.group().casefold(), found.group()), done)


def _fits(one: Example, asked: Asked, action: str) -> float:
    """Return how well an action does what was done there; what the goal wants has to be named."""
    renamed = _renamed(one, asked)
    fits = _same(_adapted(one, renamed), action)
    wanted = set(words_of(one.steps[0].action)) & set(words_of(one.goal))
    named = words_of(action)
    things = [word for word in wanted if len(word) > _SHORT]
    if any(renamed.get(word, word) not in named for word in things):
        return fits * _UNNAMED
    return fits


def _same(adapted: str, action: str) -> float:
    """Return how much of the same two actions say, from 0 to 1; numbers count less than words."""
    left, right = words_of(adapted), words_of(action)
    if left == right:
        return 1.0
    both, all_of = Counter(left) & Counter(right), Counter(left) | Counter(right)
    weight = {word: _NUMBER_WEIGHT if word.isdigit() else 1.0 for word in all_of}
    total = sum(weight[word] * times for word, times in all_of.items())
    shared = sum(weight[word] * times for word, times in both.items())
    opening = 0.1 if left[:1] == right[:1] else 0.0
    return min(0.85 * shared / (total or 1.0) + opening, 0.95)


def _named(action: str, asked: Asked) -> float:
    goal = set(words_of(asked.goal))
    words = [word for word in words_of(action) if not word.isdigit()]
    return sum(word in goal for word in words) / len(words) if words else 0.0


def _beside(action: str, asked: Asked) -> float:
    """Return how much of the goal stands on the lines that name an action's last word."""
    words = words_of(action)
    if not words:
        return 0.0
    lines = asked.observation.split("\n")
    goal = set(words_of(asked.goal))
    best = 0.0
    for number, line in enumerate(lines):
        if words[-1] in words_of(line):
            near = words_of(" ".join(lines[number : number + 2]))
            best = max(best, len(goal.intersection(near)) / max(len(goal), 1))
    return best


def _written(asked: Asked) -> tuple[str, ...]:
    """Return actions in the free form, if there is one: those of the examples, adapted."""
    if not asked.form:
        return ()
    written: dict[str, None] = {}
    before, _, after = asked.form.partition("...")
    moments = _moments(asked)
    common = _common_words([one.goal for one in moments])
    for one in moments:
        done = one.steps[0].action
        if fits_form(done, asked.form):
            inner = done.removeprefix(before).removesuffix(after)
            written[f"{before}{_rewritten(inner, one, asked, common)}{after}"] = None
    if not written and not asked.legal:
        written[f"{before}{' '.join(words_of(asked.goal)) or 'nothing'}{after}"] = None
    return tuple(written)


def _rewritten(inner: str, one: Example, asked: Asked, common: frozenset[str]) -> str:
    """Return what was written there, as it would be here.

    What is a choice of the goal's words there is the words of this goal that say what is wanted;
    else words are exchanged.
    """
    words, goal = words_of(inner), set(words_of(one.goal))
    if words and sum(word in goal for word in words) >= 0.8 * len(words):
        wanted = [word for word in words_of(asked.goal) if word not in common or word in words]
        return " ".join(dict.fromkeys(wanted)) or inner
    moved = Example(one.goal, (type(one.steps[0])(one.steps[0].observation, inner),))
    return _adapted(moved, _renamed(moved, asked))


def _common_words(goals: Sequence[str]) -> frozenset[str]:
    """Return the words that most goals have: those of their form."""
    distinct = list(dict.fromkeys(goals))
    counted = Counter(word for goal in distinct for word in set(words_of(goal)))
    return frozenset(word for word, times in counted.items() if times > len(distinct) / 2 > 0.5)


def _repeated(action: str, done: Sequence[str]) -> float:
    """Return what is left of an action's worth that was done before.

    It counts for less where nothing of another kind was done since, for then nothing has changed.
    """
    kind = words_of(action)[:1]
    left, is_since = 1.0, True
    for one in reversed(done):
        is_since = is_since and words_of(one)[:1] == kind
        if one == action:
            left *= _DONE_AGAIN if is_since else _DONE_LONG_AGO
    return left


def _done_in(history: str) -> list[str]:
    """Return what a scripted summary says was done."""
    _, is_there, told = history.partition(DONE)
    return [one.strip() for one in told.split(";")] if is_there else []


DONE = "Did: "
"""How a scripted summary begins its list of what was done."""


def _drawn(asked: Asked, action: str, seed: int) -> float:
    digest = sha256(f"{seed}\n{action}\n{asked.whole}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
