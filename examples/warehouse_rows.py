"""The contents of the example's warehouse: drawn from a seed, and the same on every engine.

The business has a shape on which no single column tells what to decide. In every region one plant
makes little, and makes what nobody else can; one makes most, at the highest fixed cost; one makes
dear products that other regions could send only at a price; and one is replaceable. The cheapest
supplier of a family is late, and the most punctual one is dear. The emptiest warehouse has few
customers, and the one that loses most units sells them at a discount.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from examples.warehouse_sales import sell
from examples.warehouse_shape import (
    BIG,
    COMMON,
    DEAR,
    FULL,
    OWN,
    PRODUCTS,
    QUARTERS,
    REGIONS,
    Ints,
    Products,
    Rows,
    days_from,
    decimals,
    money,
    some,
)

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
_SUPPLIERS = 40
_WHOLE = 8
"""Suppliers that offer every product of a family."""
# What a plant makes of the products' groups, and what it costs a quarter at full size. The order is
# that of the roles: a specialist, the biggest, the one that can be replaced, the one of dear goods.
_QUARTERLY = (95_000.0, 310_000.0, 240_000.0, 150_000.0)
# What lies in a warehouse, by its role.
_HELD = (15.0, 120.0, 70.0, 90.0)

# By role of a supplier of a whole family: how dear it is, and how often late.
_DEARNESS = (0.80, 1.18, 0.92, 0.99, 1.02, 1.05, 0.97, 0.84)
_LATE = (0.48, 0.02, 0.08, 0.20, 0.15, 0.12, 0.24, 0.05)
_UNCERTIFIED = 7
"""The role of the supplier that would be best and is not certified."""


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
    rows |= sell(draws[4], products, roles, rows["plant_product"], lines)
    return rows


def _roles(rng: np.random.Generator) -> Ints:
    """Return the role of each plant of a region, and of each warehouse."""
    return np.array([rng.permutation(4) for _ in range(2 * len(REGIONS))]).reshape(2, -1)


def _products(rng: np.random.Generator) -> Products:
    group = np.repeat([OWN, COMMON, BIG, DEAR], [24, 110, 60, 46])
    order = rng.permutation(PRODUCTS)
    group = group[order]
    only = np.full(PRODUCTS, -1)
    only[group == OWN] = np.arange(24) % len(REGIONS)
    price = rng.lognormal(3.5, 0.25, PRODUCTS) * np.array([1.6, 1.0, 1.0, 1.8])[group]
    discontinued = np.zeros(PRODUCTS, bool)
    discontinued[rng.choice(np.flatnonzero(group == COMMON), 8, replace=False)] = True
    return Products(group, only, np.round(price * 100).astype(np.int64), discontinued)


# --- what is bought ---


def _bought(rng: np.random.Generator, products: Products, lines: int) -> Rows:
    families = np.arange(PRODUCTS) % len(FAMILIES)
    offers: list[tuple[int, ...]] = []
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
            offers += _offered(rng, products, of_family, supplier, _DEARNESS[role])
            shipments.append(_shipped(rng, supplier, of_family, _LATE[role], each))
        for supplier in range(_SUPPLIERS):
            if supplier in whole or rng.random() > 0.3:
                continue
            few = np.sort(rng.choice(of_family, 9, replace=False))
            offers += _offered(rng, products, few, supplier, 0.75)
    offers.sort()
    columns = [np.array(column) for column in zip(*offers, strict=True)]
    offered = pa.table(
        {
            "product_id": columns[0] + 1,
            "supplier_id": columns[1] + 1,
            "unit_cost": money(columns[2]),
            "lead_days": columns[3],
            "minimum_order": columns[4],
        }
    )
    return {
        "supplier": _suppliers(rng, certified),
        "product": _product_rows(rng, products, families),
        "product_supplier": offered,
        "shipment": _shipments(shipments),
    }


def _offered(
    rng: np.random.Generator, products: Products, some_of: Ints, supplier: int, dearness: float
) -> Iterable[tuple[int, ...]]:
    """Return what a supplier asks for the parts of some products."""
    noise = rng.uniform(0.97, 1.03, len(some_of))
    costs = np.round(products.cents[some_of] * 0.3 * dearness * noise).astype(np.int64)
    lead = rng.integers(3, 30, len(some_of))
    least = rng.integers(1, 6, len(some_of)) * 10
    columns = (some_of, np.full(len(some_of), supplier), costs, lead, least)
    return zip(*(column.tolist() for column in columns), strict=True)


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
            "since": days_from(rng, date(2005, 1, 1), 6_000, _SUPPLIERS),
            "email": some(
                rng, [f"sales@{n.split()[0].lower()}{i}.example" for i, n in enumerate(names)], 0.8
            ),
            "terms": some(rng, terms, 0.9),
        }
    )


def _product_rows(rng: np.random.Generator, products: Products, families: Ints) -> pa.Table:
    kinds = ("Classic", "Compact", "Deluxe", "Junior", "Light", "Plus", "Pro", "Solo")
    names = [
        f"{FAMILIES[f].removesuffix('s')} {kinds[i // 6 % 8]} {i // 48 + 1}"
        for i, f in enumerate(families.tolist())
    ]
    colours, materials = ("black", "blue", "red", "white"), ("aluminium", "oak", "steel")
    attributes = [
        json.dumps({"colour": colours[c], "material": materials[m]})
        for c, m in zip(rng.integers(0, 4, PRODUCTS), rng.integers(0, 3, PRODUCTS), strict=True)
    ]
    ended = np.full(PRODUCTS, "2025-12-31", "datetime64[D]")
    return pa.table(
        {
            "product_id": np.arange(1, PRODUCTS + 1),
            "name": names,
            "family": [FAMILIES[f] for f in families.tolist()],
            "list_price": money(products.cents),
            "weight_kg": decimals(rng.integers(200, 30_000, PRODUCTS), 8, 3),
            "launched_on": days_from(rng, date(2015, 1, 1), 3_000, PRODUCTS),
            "discontinued_on": pa.array(ended, mask=~products.discontinued),
            "attributes": some(rng, attributes, 0.85),
        }
    )


# --- what is made and kept ---


def _made(rng: np.random.Generator, products: Products, roles: Ints, scale: float) -> Rows:
    names = [name for region in _PLANTS for name in region]
    quarterly = np.array(_QUARTERLY)[roles[0]] * rng.uniform(0.95, 1.05, len(names)) * scale
    plants = pa.table(
        {
            "plant_id": np.arange(1, len(names) + 1),
            "name": names,
            "region": [region for region in REGIONS for _ in range(4)],
            "opened_on": days_from(rng, date(1980, 1, 1), 12_000, len(names)),
            "automated": rng.random(len(names)) < 0.5,
            "quarterly_cost": money(np.round(quarterly * 100), 14),
            "manager_email": some(rng, [f"{n.lower()}@plants.example" for n in names], 0.75),
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
            "unit_cost": money(np.round(cost)),
            "daily_rate": rng.integers(50, 900, len(able)),
        }
    )
    return {"plant": plants, "plant_product": makes, "lane": _lanes(rng, roles[0])}


def _made_by(plant: int, role: int, products: Products) -> list[int]:
    """Return the products that a plant can make."""
    group, region = products.group, plant // 4
    able = (
        (products.only == region) | ((group == COMMON) & (np.arange(PRODUCTS) % 3 == 0)),
        (group == COMMON) | (group == BIG),
        group == COMMON,
        group == DEAR,
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
            "unit_freight": money(np.round(freight)),
            "transit_days": np.where(near, 1, 3) + rng.integers(0, 2, 144),
        }
    )


def _held(rng: np.random.Generator, roles: Ints, scale: float) -> Rows:
    names = [name for region in _WAREHOUSES for name in region]
    warehouse, product = (side.ravel() for side in np.indices((len(names), PRODUCTS)))
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
            "holding_cost": money(rng.integers(30, 90, len(names))),
            "opened_on": days_from(rng, date(1990, 1, 1), 9_000, len(names)),
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
