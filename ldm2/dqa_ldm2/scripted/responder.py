"""Scripted replies to LDM2's steps, to try the method without a model.

The script imitates remembered tuples and examples. An action ranks higher if it is similar to the
goal, and to actions that were taken in similar situations. An action ranks lower if the script has
already taken it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dqa.core.fitting import words_in
from dqa.core.question import fits_form
from dqa.models.scripted import ScriptedReplies
from dqa_ldm2.likeness import likeness, nearest_type
from dqa_ldm2.steps import PACKAGE, first_difference

Values = Mapping[str, Any]
_DONE_AGAIN = 0.25
"""Each earlier use of an action multiplies its worth by this factor."""
_NAMED: Final = 3
"""The number of words in the name of a type."""
_FEW: Final = 3
"""If there are fewer texts than this number, each text has its own type."""


def _rank(values: Values) -> list[str]:
    """Return the possible actions, best first."""
    if "shown" in values:
        examples = [
            (process.goal, step.observation, step.action)
            for process in values["shown"].processes
            for step in process.steps
        ]
    else:
        examples = [(one.goal, one.observation, one.action) for one in values["remembered"]]
    done = [step.action for step in values["steps"]]

    def worth(action: str) -> float:
        fits = (
            likeness(did, action)
            * (0.2 + likeness(seen, values["observation"]))
            * (0.2 + likeness(goal, values["goal"]))
            for goal, seen, did in examples
        )
        worth = max(fits, default=0.0) + 0.2 * likeness(action, values["goal"])
        return worth * _DONE_AGAIN ** done.count(action)

    form = values["free_form"]
    written = [action for *_, action in examples if form and fits_form(action, form)]
    if not written and not values["legal"]:
        written = [form.rpartition(" or ")[2].replace("...", " ".join(values["goal"].split()))]
    return sorted(dict.fromkeys([*values["legal"], *written]), key=lambda one: -worth(one))


def _act(values: Values) -> object:
    return {"reasoning": "It is what was done there.", "action": _rank(values)[0]}


def _explore(values: Values) -> object:
    best = _rank(values)[: values["most"]]
    total = sum(0.5**index for index in range(len(best)))
    shares = ((one, round(0.5**index / total, 4)) for index, one in enumerate(best))
    return {"actions": [{"action": one, "confidence": share} for one, share in shares]}


def _evaluate(values: Values) -> object:
    if values["before"]:
        return {"complete": []}
    return {"subgoals": [{"goal": values["goal"], "complete": False}]}


def _summarise(values: Values) -> object:
    done = "; ".join(step.action for step in values["steps"])
    return {"summary": f"{values['before'] or 'Did:'} {done};"}


def _cluster(values: Values) -> object:
    """Sort texts by their words. A new type is named after the words that distinguish it."""
    texts = [_words_for_name(text) for text in values["texts"]]
    types: dict[str, list[int]] = {}
    new: list[int] = []
    for number, words in enumerate(texts, 1):
        known = (name for name in values["known"] if _words_for_name(name) <= words)
        name = next(known, None)
        (new if name is None else types.setdefault(name, [])).append(number)
    for numbers in _similar(texts, new):
        counts, others = Counter[str](), Counter[str]()
        for number in new:
            (counts if number in numbers else others).update(texts[number - 1])
        rest = max(len(new) - len(numbers), 1)
        worth = {word: counts[word] / len(numbers) - others[word] / rest for word in counts}
        name = " ".join(sorted(worth, key=lambda word: (-worth[word], -len(word), word))[:_NAMED])
        types.setdefault(name or "other", []).extend(numbers)
    return {"types": types}


def _words_for_name(text: str) -> set[str]:
    """Return the words of a text that a name may contain: three letters or more."""
    return {word for word in words_in(text) if word.isalpha() and len(word) > 2}


def _similar(texts: Sequence[set[str]], numbers: Sequence[int]) -> list[list[int]]:
    """Divide numbered texts into groups with similar words."""
    if len(numbers) < _FEW:
        return [[number] for number in numbers]
    from scipy.cluster.hierarchy import fcluster, linkage

    vocabulary = sorted(set().union(*texts)) or [""]
    has = [[word in texts[number - 1] for word in vocabulary] for number in numbers]
    labels = fcluster(linkage(has, "complete", "jaccard"), len(numbers) ** 0.5, "maxclust")
    groups: dict[int, list[int]] = {}
    for number, label in zip(numbers, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(number)
    return list(groups.values())


def _index(values: Values) -> object:
    names = [one.name for one in values["types"]]
    return {"type": names.index(nearest_type(values["text"], values["types"])) + 1}


def _compare(values: Values) -> object:
    best, ground = (one.steps for one in values["processes"])
    return {"step": min(first_difference(best, ground), len(best))}


def _think(values: Values) -> object:
    return {"thoughts": [["It leads to the goal."] * len(one.steps) for one in values["processes"]]}


RESPONDER = ScriptedReplies(
    PACKAGE,
    {
        "action": _act,
        "whole": _act,
        "exploration": _explore,
        "evaluation": _evaluate,
        "summary": _summarise,
        "cluster": _cluster,
        "index": _index,
        "comparison": _compare,
        "thoughts": _think,
        "choice": lambda _: {"best": 1},
        "reflection": lambda _: {"reflection": "Try what was not tried."},
    },
)
"""Answers every prompt of the package."""
