"""Represent games as planning problems in PDDL."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

Fact: TypeAlias = tuple[str, ...]
"""A predicate and its arguments: ``("inReceptacle", "Apple_bar_1", "Fridge_bar_1")``."""

AGENT: Final = "agent1"
_TYPED: Final = re.compile(r"\((?:objecttype|receptacletype)\s+\?\w+\s+(\w+)\s*\)", re.IGNORECASE)
_TREATED_AT: Final = {"isclean": "sinkbasintype", "ishot": "microwavetype", "iscool": "fridgetype"}
"""The type of receptacle for each treatment in a goal."""
DOMAIN_TYPES: Final = {
    "SinkBasinType": "rtype",
    "MicrowaveType": "rtype",
    "FridgeType": "rtype",
    "KnifeType": "otype",
    "ButterKnifeType": "otype",
}
"""The types in the domain. Every problem must declare them."""
_NAMED_BY_DOMAIN: Final = {name.lower() for name in DOMAIN_TYPES}


class Problem(NamedTuple):
    """A state of a game with its goal.

    Attributes
    ----------
    types
        The PDDL type of each thing: ``object``, ``receptacle``, ``location``, ...
    facts
        The facts that are true in the state.
    goal
        The goal in PDDL: ``(:goal ...)``.
    """

    types: Mapping[str, str]
    facts: tuple[Fact, ...]
    goal: str

    def write(self) -> str:
        """Return the problem in PDDL."""
        things = "\n".join(f"    {name} - {type_}" for name, type_ in self.types.items())
        facts = "\n".join(f"    ({' '.join(fact)})" for fact in self.facts)
        # The planner's parser requires the metric after the goal.
        return (
            "(define (problem household)\n  (:domain alfred)\n"
            f"  (:objects\n{things}\n  )\n"
            f"  (:init\n    (= (total-cost) 0)\n{facts}\n  )\n"
            f"  {self.goal}\n  (:metric minimize (total-cost))\n)\n"
        )

    def reduced(self) -> Problem:
        """Return the part of the problem that is sufficient for planning.

        The part contains the things in the goal, their receptacles, the receptacles for treatment
        and placement, and all their locations. Every plan for the part is a plan for the whole
        problem. Planning for a whole room takes minutes.
        """
        facts: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            facts[fact[0].lower()].append(fact)
        wanted = {name.lower() for name in _TYPED.findall(self.goal)}
        goal = self.goal.lower()
        treated = [type_ for what, type_ in _TREATED_AT.items() if f"({what} " in goal]
        things = {fact[1] for fact in facts["objecttype"] if fact[2].lower() in wanted}
        receptacles = {fact[2] for fact in facts["inreceptacle"] if fact[1] in things}
        for type_ in sorted(wanted.union(treated)):
            of_type = [fact[1] for fact in facts["receptacletype"] if fact[2].lower() == type_]
            receptacles |= {min(of_type)} if of_type else set()
        places = {fact[2] for fact in facts["receptacleatlocation"] if fact[1] in receptacles}
        places |= {fact[2] for fact in facts["atlocation"]}
        remaining = things | receptacles | places
        named = {fact[2] for fact in facts["objecttype"] if fact[1] in remaining}
        named |= {fact[2] for fact in facts["receptacletype"] if fact[1] in remaining}
        remaining |= named | {name for name, type_ in self.types.items() if type_ == "agent"}
        # Types in the domain and in the goal must be declared even if the room lacks them.
        must = wanted | _NAMED_BY_DOMAIN
        kinds = (name for name, type_ in self.types.items() if type_ in {"otype", "rtype"})
        remaining |= {name for name in kinds if name.lower() in must}
        return Problem(
            {name: type_ for name, type_ in self.types.items() if name in remaining},
            tuple(fact for fact in self.facts if all(name in remaining for name in fact[1:])),
            self.goal,
        )


def extract_goal(text: str) -> str:
    """Return the ``(:goal ...)`` of a PDDL text. Raise `ValueError` if there is none."""
    start = text.lower().index("(:goal")
    depth = 0
    for position, character in enumerate(text[start:], start):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return " ".join(text[start : position + 1].split())
    raise ValueError("the goal has no closing parenthesis")
