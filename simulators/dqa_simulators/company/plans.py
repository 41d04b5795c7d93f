"""Write, propose and read plans as text."""

from __future__ import annotations

from typing import Final

import numpy as np

from dqa_simulators.company.engine import LOT, MOST, Plan, round_order
from dqa_simulators.company.parameters import NORMAL, Integers
from dqa_simulators.company.reading import Reading

FORM: Final = "plan[...]"
"""The form of a plan, see `dqa.core.question.Question.free_form`."""
_COVERS: Final = (0.5, 1.0, 1.5, 2.0)
"""For each proposed plan, the number of additional periods whose demand the plan covers."""


class PlanError(ValueError):
    """A plan is invalid. The message states the reason."""


def write_plan(reading: Reading, quantity: Integers, suppliers: list[str], levels: Integers) -> str:
    """Return the text of a plan.

    Parameters
    ----------
    reading
        The books.
    quantity
        Units by item and site.
    suppliers
        The supplier of each item.
    levels
        The price levels by item, from 1. The text omits unchanged levels.
    """
    parts = [
        f"buy {reading.items[item]} {reading.sites[site]} {units} {suppliers[item]}"
        for (item, site), units in np.ndenumerate(quantity)
        if units and reading.is_open[site]
    ]
    parts += [
        f"price {reading.items[item]} {level}"
        for item, level in enumerate(levels.tolist())
        if level != reading.levels[item]
    ]
    return f"plan[{'; '.join(parts) or 'nothing'}]"


def propose_plans(reading: Reading) -> tuple[str, ...]:
    """Return the candidates: `default_plan`, then plans by other simple rules."""
    mean, _ = reading.recent_demand(8)
    suppliers, levels = reading.usual, reading.levels
    leads = np.array(
        [reading.offers[item][name].lead for item, name in enumerate(suppliers)], dtype=float
    )
    held = reading.stock + reading.coming
    plans = [default_plan(reading), "plan[nothing]"]
    orders = [
        round_order(mean * (leads[:, None] + 1 + cover) - held + LOT / 2) for cover in _COVERS
    ]
    plans += [write_plan(reading, units, suppliers, levels) for units in orders]
    for step in (-1, 1):
        changed = np.clip(levels + step, 1, 5)
        plans.append(write_plan(reading, orders[1], suppliers, changed))
    return tuple(dict.fromkeys(plans))


def default_plan(reading: Reading) -> str:
    """Return the plan that is used after two invalid plans.

    The plan orders as many units as were sold in the last period, from the usual suppliers. It
    leaves prices unchanged.
    """
    return write_plan(reading, round_order(reading.sales[-1]), reading.usual, reading.levels)


def read_plan(reading: Reading, text: str) -> Plan:
    """Parse the text of a plan.

    Raises
    ------
    PlanError
        A word is unknown, an amount is out of range, or a supplier does not offer the item.
    """
    usual = np.array([int(name[1:]) - 1 for name in reading.usual])
    plan = Plan(
        np.zeros(reading.shape, dtype=np.int64),
        np.repeat(usual[:, None], len(reading.sites), axis=1),
        reading.levels - 1,
    )
    priced: set[int] = set()
    inner = text.strip().removeprefix("plan[").removesuffix("]").strip()
    if inner == "nothing":
        return plan
    for part in filter(None, (one.strip() for one in inner.replace("\n", ";").split(";"))):
        match part.split():
            case ["buy", _, _, _, _] as words:
                _read_order(plan, reading, words[1:], part)
            case ["price", name, level]:
                item = _index(reading.items, name, part)
                if item in priced:
                    raise PlanError(f"'{part}': {name} has two prices. Remove one.")
                priced.add(item)
                plan.level[item] = _number(level, 1, 5, 1, part) - 1
            case _:
                raise PlanError(
                    f"'{part}' is invalid. Write 'buy ITEM SITE UNITS SUPPLIER' or "
                    "'price ITEM LEVEL', separated by ';'."
                )
    return plan


def _read_order(plan: Plan, reading: Reading, words: list[str], part: str) -> None:
    item, site = _index(reading.items, words[0], part), _index(reading.sites, words[1], part)
    if not reading.is_open[site]:
        raise PlanError(f"'{part}': the site {words[1]} is closed.")
    units = _number(words[2], 0, MOST, LOT, part)
    if words[3] not in reading.offers[item]:
        names = ", ".join(sorted(reading.offers[item]))
        raise PlanError(
            f"'{part}': {words[3]} does not offer {words[0]}. Suppliers of {words[0]}: {names}."
        )
    if plan.quantity[item, site]:
        raise PlanError(f"'{part}': the plan has two orders for this item and site. Remove one.")
    plan.quantity[item, site] = units
    plan.supplier[item, site] = int(words[3][1:]) - 1


def _index(names: list[str], name: str, part: str) -> int:
    if name not in names:
        raise PlanError(f"'{part}': '{name}' is unknown. Choose one of {', '.join(names)}.")
    return names.index(name)


def _number(word: str, least: int, most: int, step: int, part: str) -> int:
    value = int(word) if word.isdecimal() and word.isascii() else -1
    if not least <= value <= most or value % step:
        raise PlanError(f"'{part}': '{word}' must be from {least} to {most}, in steps of {step}.")
    return value


def normal_levels(reading: Reading) -> Integers:
    """Return the level of the reference price, from 1, for every item."""
    return np.full(len(reading.items), NORMAL + 1)
