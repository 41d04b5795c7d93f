"""The contents of the example's warehouse: drawn from a seed, and the same on every engine.

The business has a shape on which no single column tells what to decide. In every region one plant
makes little, and makes what nobody else can; one makes most, at the highest fixed cost; one makes
dear products that other regions could send only at a price; and one is replaceable. The cheapest
supplier of a family is late, and the most punctual one is dear. The emptiest warehouse has few
customers, and the one that loses most units sells them at a discount.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Rows: TypeAlias = dict[str, pa.Table]
"""A table's rows, by its name."""
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

FULL = 1_000_000
"""Order lines of a warehouse of full size, by which costs are scaled."""
QUARTERS = tuple(date(year, month, 1) for year in (2024, 2025) for month in (1, 4, 7, 10))
REGIONS = ("North", "South", "East")
FAMILIES = ("Bicycles", "Cameras", "Furniture", "Kitchen", "Lighting", "Tools")
_PLANTS = (
    ("Alderby", "Birkdale", "Calder", "Drayton"),
    ("Elmstead", "Foxley", "Garston", "Hadley"),
    ("Ilford", "Jarrow", "Kelby", "Linton"),
)
_WAREHOUSES = (
    ("Marlow", "Norwood", "Oakham", "Penrith"),
    ("Quorn", "Ripley", "Selby", "Thirsk"),
    ("Upton", "Verwood", "Witney", "Yarm"),
)
_PRODUCTS = 240
_SUPPLIERS = 40
_WHOLE = 8
"""Suppliers that offer every product of a family."""
_EVERY_DAY = (date(2026, 1, 1) - QUARTERS[0]).days

# What a plant makes of the products' groups, and what it costs a quarter at full size. The order is
# that of the roles: a specialist, the biggest, the one that can be replaced, the one of dear goods.
_QUARTERLY = (95_000.0, 310_000.0, 240_000.0, 150_000.0)
_OWN, _COMMON, _BIG, _DEAR = range(4)
"""Groups of products: made by one plant alone, by several of a region, by its biggest, by its
plant of dear goods."""

# By role of a warehouse: the emptiest, the one with discounts, the one to add to, an ordinary one.
_SHARE = (0.06, 0.42, 0.28, 0.24)
_LOST = (0.15, 0.16, 0.14, 0.05)
_PRICE = (0.95, 0.66, 1.0, 0.93)
_HELD = (15.0, 120.0, 70.0, 90.0)
_IN_REGION = (1.0, 0.75, 0.85)
"""How much of the lost share is lost in each region."""

# By role of a supplier of a whole family: how dear it is, and how often late.
_DEARNESS = (0.80, 1.18, 0.92, 0.99, 1.02, 1.05, 0.97, 0.84)
_LATE = (0.48, 0.02, 0.08, 0.20, 0.15, 0.12, 0.24, 0.05)
_UNCERTIFIED = 7
"""The role of the supplier that would be best and is not certified."""


@dataclass(frozen=True, slots=True)
class _Products:
    """Arrays over products: group, the plant of those that one alone makes, and price in cents."""

    group: Ints
    only: Ints
    cents: Ints
    discontinued: NDArray[np.bool_]


def make_rows(lines: int = FULL, seed: int = 0) -> Rows:
    """Return the rows of every table, in the order in which keys let them be written.

    Parameters
    ----------
    lines
        Order lines; the other tables of movements and what things cost grow with them.
    seed
        Of everything that is drawn.
    """
    draws = [np.random.default_rng([seed, part]) for part in range(6)]
    products, roles = _products(draws[0]), _roles(draws[0])
    rows: Rows = {}
    rows |= _bought(draws[1], products, lines)
    rows |= _made(draws[2], products, roles, lines / FULL)
    rows |= _held(draws[3], roles, lines / FULL)
    rows |= _sold(draws[4], products, roles, rows["plant_product"], lines)
    return rows


def _roles(rng: np.random.Generator) -> Ints:
    """Return the role of each plant of a region, and of each warehouse."""
    return np.array([rng.permutation(4) for _ in range(2 * len(REGIONS))]).reshape(2, -1)


def _products(rng: np.random.Generator) -> _Products:
    group = np.repeat([_OWN, _COMMON, _BIG, _DEAR], [24, 110, 60, 46])
    order = rng.permutation(_PRODUCTS)
    group = group[order]
    only = np.full(_PRODUCTS, -1)
    only[group == _OWN] = np.arange(24) % len(REGIONS)
    price = rng.lognormal(3.5, 0.25, _PRODUCTS) * np.array([1.6, 1.0, 1.0, 1.8])[group]
    discontinued = np.zeros(_PRODUCTS, bool)
    discontinued[rng.choice(np.flatnonzero(group == _COMMON), 8, replace=False)] = True
    return _Products(group, only, np.round(price * 100).astype(np.int64), discontinued)


# --- what is bought ---


def _bought(rng: np.random.Generator, products: _Products, lines: int) -> Rows:
    families = np.arange(_PRODUCTS) % len(FAMILIES)
    offers: list[tuple[int, int, int, int, int]] = []
    shipments: list[Mapping[str, Any]] = []
    each = max(12_000, lines * 6 // 100) // (len(FAMILIES) * len(QUARTERS) * _WHOLE)
    certified = np.ones(_SUPPLIERS, bool)
    for family in range(len(FAMILIES)):
        # Six suppliers of each family are its own; the others of the forty offer here and there.
        whole = [family * 6 + number for number in range(6)]
        whole += [36 + (family + number) % 4 for number in range(2)]
        roles = [*rng.permutation([0, 1, 2, 3, 4, _UNCERTIFIED]).tolist(), 5, 6]
        of_family = np.flatnonzero(families == family)
        for supplier, role in zip(whole, roles, strict=True):
            certified[supplier] &= role != _UNCERTIFIED
            noise = rng.uniform(0.97, 1.03, len(of_family))
            costs = np.round(products.cents[of_family] * 0.3 * _DEARNESS[role] * noise)
            lead = rng.integers(3, 30, len(of_family))
            least = rng.integers(1, 6, len(of_family)) * 10
            offers += zip(
                of_family.tolist(),
                [supplier] * len(of_family),
                costs.astype(int).tolist(),
                lead.tolist(),
                least.tolist(),
                strict=True,
            )
            shipments.append(_shipped(rng, supplier, of_family, _LATE[role], each))
        for supplier in range(_SUPPLIERS):
            if supplier in whole or rng.random() > 0.3:
                continue
            some = rng.choice(of_family, 9, replace=False)
            for product in np.sort(some).tolist():
                cost = int(round(products.cents[product] * 0.3 * 0.75))
                offers.append((product, supplier, cost, int(rng.integers(3, 30)), 10))
    offers.sort()
    product, supplier, cost, lead_days, minimum = (np.array(c) for c in zip(*offers, strict=True))
    offered = pa.table(
        {
            "product_id": product + 1,
            "supplier_id": supplier + 1,
            "unit_cost": _money(cost),
            "lead_days": lead_days,
            "minimum_order": minimum,
        }
    )
    return {
        "supplier": _suppliers(rng, certified),
        "product": _product_rows(rng, products, families),
        "product_supplier": offered,
        "shipment": _shipments(shipments),
    }


def _shipped(
    rng: np.random.Generator, supplier: int, products: Ints, late: float, each: int
) -> Mapping[str, Any]:
    """Return the deliveries of one supplier of one family, in every quarter."""
    count = each * len(QUARTERS)
    quarter = np.repeat(np.arange(len(QUARTERS)), each)
    late_days = np.where(rng.random(count) < late, rng.integers(1, 25, count), 0)
    early = np.where(late_days == 0, rng.integers(0, 4, count), 0)
    return {
        "supplier": np.full(count, supplier),
        "product": rng.choice(products, count),
        "quantity": rng.integers(1, 20, count) * 10,
        "quarter": quarter,
        "due": rng.integers(0, 90, count),
        "off": late_days - early,
        "missing": (late_days > 0) & (rng.random(count) < 0.1),
    }


def _shipments(parts: Sequence[Mapping[str, Any]]) -> pa.Table:
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort((whole["product"], whole["supplier"], whole["due"], whole["quarter"]))
    whole = {name: values[order] for name, values in whole.items()}
    starts = np.array(QUARTERS, "datetime64[D]")[whole["quarter"]]
    due = starts + whole["due"]
    return pa.table(
        {
            "shipment_id": np.arange(1, len(order) + 1),
            "supplier_id": whole["supplier"] + 1,
            "product_id": whole["product"] + 1,
            "quantity": whole["quantity"],
            "quarter": pa.array(starts),
            "due_on": pa.array(due),
            "delivered_on": pa.array(due + whole["off"], mask=whole["missing"]),
        }
    )


def _suppliers(rng: np.random.Generator, certified: NDArray[np.bool_]) -> pa.Table:
    first = ("Abbott", "Barlow", "Crane", "Dunn", "Egerton", "Farrow", "Gale", "Holt")
    second = ("& Sons", "Works", "Trading", "Parts", "Supply")
    names = [f"{first[i % 8]} {second[i // 8]}" for i in range(_SUPPLIERS)]
    days = rng.choice([14, 30, 60], _SUPPLIERS)
    terms = [json.dumps({"days": int(d), "discount": int(d) < 30}) for d in days]
    return pa.table(
        {
            "supplier_id": np.arange(1, _SUPPLIERS + 1),
            "name": names,
            "country": rng.choice(["DE", "FR", "GB", "IT", "PL"], _SUPPLIERS).tolist(),
            "certified": certified,
            "since": _days(rng, date(2005, 1, 1), 6_000, _SUPPLIERS),
            "email": _some(rng, [f"sales@{n.split()[0].lower()}{i}.example" for i, n in enumerate(names)], 0.8),
            "terms": _some(rng, terms, 0.9),
        }
    )


def _product_rows(rng: np.random.Generator, products: _Products, families: Ints) -> pa.Table:
    kinds = ("Classic", "Compact", "Deluxe", "Junior", "Light", "Plus", "Pro", "Solo")
    names = [
        f"{FAMILIES[f][:-1] if FAMILIES[f].endswith('s') else FAMILIES[f]} {kinds[i // 6 % 8]} {i // 48 + 1}"
        for i, f in enumerate(families.tolist())
    ]
    colours, materials = ("black", "blue", "red", "white"), ("aluminium", "oak", "steel")
    attributes = [
        json.dumps({"colour": colours[c], "material": materials[m]})
        for c, m in zip(rng.integers(0, 4, _PRODUCTS), rng.integers(0, 3, _PRODUCTS), strict=True)
    ]
    ended = np.full(_PRODUCTS, "2025-12-31", "datetime64[D]")
    return pa.table(
        {
            "product_id": np.arange(1, _PRODUCTS + 1),
            "name": names,
            "family": [FAMILIES[f] for f in families.tolist()],
            "list_price": _money(products.cents),
            "weight_kg": _decimals(rng.integers(200, 30_000, _PRODUCTS), 8, 3),
            "launched_on": _days(rng, date(2015, 1, 1), 3_000, _PRODUCTS),
            "discontinued_on": pa.array(ended, mask=~products.discontinued),
            "attributes": _some(rng, attributes, 0.85),
        }
    )


# --- what is made and kept ---


def _made(rng: np.random.Generator, products: _Products, roles: Ints, scale: float) -> Rows:
    names = [name for region in _PLANTS for name in region]
    quarterly = np.array(_QUARTERLY)[roles[0]] * rng.uniform(0.95, 1.05, len(names)) * scale
    plants = pa.table(
        {
            "plant_id": np.arange(1, len(names) + 1),
            "name": names,
            "region": [region for region in REGIONS for _ in range(4)],
            "opened_on": _days(rng, date(1980, 1, 1), 12_000, len(names)),
            "automated": rng.random(len(names)) < 0.5,
            "quarterly_cost": _money(np.round(quarterly * 100), 14),
            "manager_email": _some(rng, [f"{n.lower()}@plants.example" for n in names], 0.75),
        }
    )
    able = [(p, g) for p in range(len(names)) for g in _made_by(p, roles[0, p], products)]
    plant, product = (np.array(column) for column in zip(*able, strict=True))
    dearness = np.array([1.03, 0.98, 1.0, 1.0])[roles[0, plant]]
    cost = products.cents[product] * 0.55 * dearness * rng.uniform(0.985, 1.015, len(able))
    makes = pa.table(
        {
            "plant_id": plant + 1,
            "product_id": product + 1,
            "unit_cost": _money(np.round(cost)),
            "daily_rate": rng.integers(50, 900, len(able)),
        }
    )
    return {"plant": plants, "plant_product": makes, "lane": _lanes(rng, roles[0])}


def _made_by(plant: int, role: int, products: _Products) -> list[int]:
    """Return the products that a plant can make."""
    group, region = products.group, plant // 4
    able = (
        (products.only == region) | ((group == _COMMON) & (np.arange(_PRODUCTS) % 3 == 0)),
        (group == _COMMON) | (group == _BIG),
        group == _COMMON,
        group == _DEAR,
    )
    return np.flatnonzero(able[role]).tolist()


def _lanes(rng: np.random.Generator, roles: Ints) -> pa.Table:
    plant, warehouse = (side.ravel() for side in np.indices((12, 12)))
    near = plant // 4 == warehouse // 4
    freight = np.where(near, rng.uniform(60, 140, 144), rng.uniform(520, 760, 144))
    freight += np.where(near & (roles[plant] == 1), 80, 0)
    return pa.table(
        {
            "plant_id": plant + 1,
            "warehouse_id": warehouse + 1,
            "unit_freight": _money(np.round(freight)),
            "transit_days": np.where(near, 1, 3) + rng.integers(0, 2, 144),
        }
    )


def _held(rng: np.random.Generator, roles: Ints, scale: float) -> Rows:
    names = [name for region in _WAREHOUSES for name in region]
    warehouse, product = (side.ravel() for side in np.indices((len(names), _PRODUCTS)))
    usual = np.array(_HELD)[roles[1, warehouse]] * rng.uniform(0.3, 1.7, len(product))
    on_hand = np.round(usual * max(scale, 0.02)).astype(np.int64)
    lying = np.bincount(warehouse, on_hand).astype(np.int64)
    # One ordinary warehouse has no room left.
    full = np.flatnonzero(roles[1] == 3)[1]
    room = np.where(np.arange(len(names)) == full, 3, 25_000 * max(scale, 0.02))
    reorder = np.round(usual * max(scale, 0.02) / 2).astype(np.int64)
    warehouses = pa.table(
        {
            "warehouse_id": np.arange(1, len(names) + 1),
            "name": names,
            "region": [region for region in REGIONS for _ in range(4)],
            "capacity": lying + room.astype(np.int64),
            "holding_cost": _money(rng.integers(30, 90, len(names))),
            "opened_on": _days(rng, date(1990, 1, 1), 9_000, len(names)),
        }
    )
    counted = np.datetime64("2025-12-01") + rng.integers(0, 30, len(product))
    stock = pa.table(
        {
            "warehouse_id": warehouse + 1,
            "product_id": product + 1,
            "on_hand": on_hand,
            "reorder_point": pa.array(reorder, mask=rng.random(len(product)) < 0.2),
            "counted_on": pa.array(counted, mask=rng.random(len(product)) < 0.1),
        }
    )
    return {"warehouse": warehouses, "stock": stock}


# --- what is sold ---


def _sold(
    rng: np.random.Generator, products: _Products, roles: Ints, makes: pa.Table, lines: int
) -> Rows:
    orders, customers = max(lines // 4, 1), max(lines // 200, 200)
    lives_in = rng.integers(0, len(REGIONS), customers)
    buyer = rng.integers(0, customers, orders)
    warehouse = _served_from(rng, lives_in[buyer], roles[1])
    ordered = np.sort(rng.integers(0, _EVERY_DAY, orders))
    days = np.datetime64(QUARTERS[0]) + ordered
    starts = np.array(QUARTERS, "datetime64[D]")
    rows: Rows = {"customer": _customers(rng, lives_in)}
    rows["customer_order"] = pa.table(
        {
            "order_id": np.arange(1, orders + 1),
            "customer_id": buyer + 1,
            "warehouse_id": warehouse + 1,
            "ordered_on": pa.array(days),
            "quarter": pa.array(starts[np.searchsorted(starts, days, side="right") - 1]),
            "priority": rng.random(orders) < 0.15,
            "channel": pa.array(rng.choice(["phone", "store", "web"], orders).tolist()),
        }
    )
    order = np.sort(rng.integers(0, orders, lines))
    rows["order_line"] = _lines(rng, products, roles, makes, order, warehouse[order])
    return rows


def _lines(  # noqa: PLR0913  (each is a part of what a line is drawn from)
    rng: np.random.Generator,
    products: _Products,
    roles: Ints,
    makes: pa.Table,
    order: Ints,
    warehouse: Ints,
) -> pa.Table:
    liked = rng.lognormal(0.0, 0.3, _PRODUCTS) * np.array([0.6, 1.0, 1.0, 1.0])[products.group]
    product = _different(rng, order, liked / liked.sum())
    quantity = rng.integers(1, 10, len(order))
    role = roles[1, warehouse]
    lost = np.array(_LOST)[role] * np.array(_IN_REGION)[warehouse // 4]
    short = np.where(rng.random(len(order)) < lost, rng.integers(1, 10, len(order)), 0)
    off = rng.integers(96, 101, len(order)) / 100 * np.array(_PRICE)[role]
    first = np.r_[0, np.flatnonzero(np.diff(order)) + 1]
    of_order = np.cumsum(np.r_[0, np.diff(order) > 0])
    return pa.table(
        {
            "order_id": order + 1,
            "line_no": np.arange(len(order)) - first[of_order] + 1,
            "product_id": product + 1,
            "plant_id": _plants_of(rng, products, roles[0], makes, product, warehouse // 4) + 1,
            "quantity": quantity,
            "shipped_quantity": quantity - np.minimum(short, quantity),
            "unit_price": _money(np.round(products.cents[product] * off)),
        }
    )


def _different(rng: np.random.Generator, order: Ints, liked: Floats) -> Ints:
    """Return the product of each line, which no other line of the order has."""
    product = rng.choice(_PRODUCTS, len(order), p=liked)
    while True:
        _, first = np.unique(order * _PRODUCTS + product, return_index=True)
        again = np.setdiff1d(np.arange(len(order)), first, assume_unique=True)
        if not len(again):
            return product
        product[again] = rng.choice(_PRODUCTS, len(again), p=liked)


def _plants_of(  # noqa: PLR0913  (as above)
    rng: np.random.Generator,
    products: _Products,
    roles: Ints,
    makes: pa.Table,
    product: Ints,
    region: Ints,
) -> Ints:
    """Return the plant of each line: one of the region's, or the only one that can make it."""
    with_role = np.argsort(roles.reshape(len(REGIONS), 4), axis=1)
    draw = rng.random(len(product))
    shared = np.where(draw < 0.45, 2, np.where((draw < 0.55) & (product % 3 == 0), 0, 1))
    role = np.select(
        [products.group[product] == each for each in (_OWN, _COMMON, _BIG, _DEAR)],
        [np.zeros_like(product), shared, np.ones_like(product), np.full_like(product, 3)],
    )
    home = np.where(products.only[product] >= 0, products.only[product], region)
    plant: Ints = home * 4 + with_role[home, role]
    able = set(zip(makes["plant_id"].to_pylist(), makes["product_id"].to_pylist(), strict=True))
    made = np.unique(np.stack([plant + 1, product + 1], axis=1), axis=0)
    assert all(pair in able for pair in map(tuple, made.tolist()))  # noqa: S101  (our own drawing)
    return plant


def _served_from(rng: np.random.Generator, region: Ints, roles: Ints) -> Ints:
    """Return the warehouse of each order, one of the customer's region."""
    found = np.zeros(len(region), np.int64)
    for number in range(len(REGIONS)):
        here = np.flatnonzero(region == number)
        share = np.array(_SHARE)[roles[number * 4 : number * 4 + 4]]
        found[here] = number * 4 + rng.choice(4, len(here), p=share)
    return found


def _customers(rng: np.random.Generator, lives_in: Ints) -> pa.Table:
    count = len(lives_in)
    names = [f"Customer {number:05}" for number in range(1, count + 1)]
    emails = [f"buyer{number}@customers.example" for number in range(1, count + 1)]
    return pa.table(
        {
            "customer_id": np.arange(1, count + 1),
            "name": names,
            "region": [REGIONS[number] for number in lives_in.tolist()],
            "segment": rng.choice(["retail", "wholesale", "online"], count).tolist(),
            "email": _some(rng, emails, 0.7),
            "since": _days(rng, date(2010, 1, 1), 5_000, count),
        }
    )


# --- columns ---


def _decimals(values: NDArray[Any], digits: int, places: int) -> pa.Array:
    """Return whole numbers of the last place as exact decimals."""
    whole = pa.array(values.astype(np.int64)).cast(pa.decimal128(19, 0))
    unit = pa.scalar(Decimal(1).scaleb(-places), pa.decimal128(places + 1, places))
    return pc.multiply(whole, unit).cast(pa.decimal128(digits, places))


def _money(cents: NDArray[Any], digits: int = 10) -> pa.Array:
    return _decimals(cents, digits, 2)


def _days(rng: np.random.Generator, first: date, span: int, count: int) -> pa.Array:
    return pa.array([first + timedelta(days=int(day)) for day in rng.integers(0, span, count)])


def _some(rng: np.random.Generator, values: Sequence[str], share: float) -> pa.Array:
    """Return the values, of which some are missing."""
    there = rng.random(len(values)) < share
    return pa.array([v if t else None for v, t in zip(values, there, strict=True)], pa.string())
