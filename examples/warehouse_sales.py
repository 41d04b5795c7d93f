"""What the example's customers order: the orders, their lines, and which plant made each."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa

from examples.warehouse_shape import (
    BIG,
    COMMON,
    DEAR,
    EVERY_DAY,
    OWN,
    PRODUCTS,
    QUARTERS,
    REGIONS,
    Floats,
    Ints,
    Products,
    Rows,
    days_from,
    money,
    some,
)

# By role of a warehouse: the emptiest, the one with discounts, the one to add to, an ordinary one.
_SHARE = (0.06, 0.42, 0.28, 0.24)
_LOST = (0.15, 0.16, 0.14, 0.05)
_PRICE = (0.95, 0.66, 1.0, 0.93)
_IN_REGION = (1.0, 0.75, 0.85)
"""How much of the lost share is lost in each region."""


def sell(
    rng: np.random.Generator, products: Products, roles: Ints, makes: pa.Table, lines: int
) -> Rows:
    """Return the rows of customers, of their orders and of the orders' lines.

    Parameters
    ----------
    rng
        What everything is drawn from.
    products
        What can be ordered.
    roles
        Of each plant, and of each warehouse.
    makes
        The rows of which plant can make which product.
    lines
        How many lines there are.
    """
    orders, customers = max(lines // 4, 1), max(lines // 200, 200)
    lives_in = rng.integers(0, len(REGIONS), customers)
    buyer = rng.integers(0, customers, orders)
    warehouse = _served_from(rng, lives_in[buyer], roles[1])
    ordered = np.sort(rng.integers(0, EVERY_DAY, orders))
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


def _lines(  # noqa: PLR0913, PLR0917  (each is a part of what a line is drawn from)
    rng: np.random.Generator,
    products: Products,
    roles: Ints,
    makes: pa.Table,
    order: Ints,
    warehouse: Ints,
) -> pa.Table:
    liked = rng.lognormal(0.0, 0.3, PRODUCTS) * np.array([0.6, 1.0, 1.0, 1.0])[products.group]
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
            "unit_price": money(np.round(products.cents[product] * off)),
        }
    )


def _different(rng: np.random.Generator, order: Ints, liked: Floats) -> Ints:
    """Return the product of each line, which no other line of the order has."""
    product = rng.choice(PRODUCTS, len(order), p=liked)
    while True:
        _, first = np.unique(order * PRODUCTS + product, return_index=True)
        again = np.setdiff1d(np.arange(len(order)), first, assume_unique=True)
        if not len(again):
            return product
        product[again] = rng.choice(PRODUCTS, len(again), p=liked)


def _plants_of(  # noqa: PLR0913, PLR0917  (as above)
    rng: np.random.Generator,
    products: Products,
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
        [products.group[product] == each for each in (OWN, COMMON, BIG, DEAR)],
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
            "email": some(rng, emails, 0.7),
            "since": days_from(rng, date(2010, 1, 1), 5_000, count),
        }
    )
