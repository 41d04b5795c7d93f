"""The catalogue as a database: its tables, and how products and goals go in and come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Integer,
    MetaData,
    RowMapping,
    String,
    Table,
    Text,
    bindparam,
    insert,
    select,
)

from dqa_simulators.shop.records import Goal, Option, Product

METADATA: Final = MetaData()
_ASIN: Final = 10
_BLOCK: Final = 2048
_FETCHED: Final = 20_000


def _list(name: str, owner: str, *columns: Column[Any]) -> Table:
    """Return the table of a list that each product or goal has."""
    return Table(
        name,
        METADATA,
        Column(owner, Integer, primary_key=True, autoincrement=False, comment=f"see {owner}s"),
        Column("place", Integer, primary_key=True, autoincrement=False, comment="in the list"),
        *columns,
        sqlite_with_rowid=False,
    )


CATALOGUE: Final = Table(
    "catalogue",
    METADATA,
    Column("one", Integer, primary_key=True, autoincrement=False, comment="always 1"),
    Column("key", String(100), nullable=False, comment="what it was made of"),
    Column("products", Integer, nullable=False, comment="how many there are"),
    Column("goals", Integer, nullable=False, comment="how many there are"),
    comment="One row, written with everything else.",
)
PRODUCTS: Final = Table(
    "products",
    METADATA,
    Column("product", Integer, primary_key=True, autoincrement=False, comment="place, from 0"),
    Column("asin", String(_ASIN), nullable=False, unique=True, comment="id in the shop"),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("low", Double, nullable=False, comment="lowest price shown, dollars"),
    Column("high", Double, nullable=False, comment="highest price shown, dollars"),
    Column("price", Double, nullable=False, comment="what it costs, dollars"),
    Column("query", Text, nullable=False, comment="what its maker would have it found by"),
    Column("category", Text, nullable=False, comment="part of the shop"),
    comment="What is sold.",
)
BULLETS: Final = _list("bullets", "product", Column("text", Text, nullable=False))
ATTRIBUTES: Final = _list("attributes", "product", Column("attribute", Text, nullable=False))
CATEGORIES: Final = _list("categories", "product", Column("category", Text, nullable=False))
OPTIONS: Final = _list(
    "options",
    "product",
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("price", Double, comment="dollars, where the shop says it"),
)
GOALS: Final = Table(
    "goals",
    METADATA,
    Column("goal", Integer, primary_key=True, autoincrement=False, comment="place, from 0"),
    Column("asin", String(_ASIN), nullable=False, comment="the product it was written for"),
    Column("instruction", Text, nullable=False, comment="with the price bound"),
    Column("bound", Double, nullable=False, comment="most that it may cost, dollars"),
    comment="What customers want.",
)
GOAL_ATTRIBUTES: Final = _list("goal_attributes", "goal", Column("attribute", Text, nullable=False))
GOAL_OPTIONS: Final = _list(
    "goal_options",
    "goal",
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
)


def write_catalogue(
    connection: Connection, key: str, made: Iterable[tuple[Product, Sequence[Goal]]]
) -> None:
    """Write products with their goals, and then the row that says that all of them are there."""
    products, goals = _write_items(connection, made)
    values = {"one": 1, "key": key, "products": products, "goals": goals}
    connection.execute(insert(CATALOGUE).values(values))


def _write_items(
    connection: Connection, made: Iterable[tuple[Product, Sequence[Goal]]]
) -> tuple[int, int]:
    """Write products and goals; return how many of each there were."""
    insertions = {table: _Insertion(connection, table) for table in METADATA.sorted_tables}
    products = goals = 0
    left = iter(made)
    while block := list(islice(left, _BLOCK)):
        rows: dict[Table, list[tuple[Any, ...]]] = {table: [] for table in insertions}
        for product, wanted in block:
            _add_product(rows, products, product)
            products += 1
            for goal in wanted:
                _add_goal(rows, goal)
                goals += 1
        for table, given in rows.items():
            insertions[table].run(given)
    return products, goals


class _Insertion:
    """Adds rows to a table, past SQLAlchemy's own way to them, which costs more than the writing.

    Parameters
    ----------
    connection, table
        Where.
    """

    def __init__(self, connection: Connection, table: Table) -> None:
        compiled = insert(table).compile(dialect=connection.dialect)
        self._connection = connection
        self._text = str(compiled)
        self._names = [column.name for column in table.columns]
        self._is_positional = compiled.positional

    def run(self, rows: list[tuple[Any, ...]]) -> None:
        """Add rows, given in the order of the table's columns."""
        if not rows:
            return
        given: list[Any] = rows
        if not self._is_positional:
            given = [dict(zip(self._names, row, strict=True)) for row in rows]
        self._connection.exec_driver_sql(self._text, given)


def _add_product(rows: dict[Table, list[tuple[Any, ...]]], number: int, product: Product) -> None:
    one = product
    rows[PRODUCTS].append(
        (
            *(number, one.asin, one.title, one.description),
            *(one.low, one.high, one.price, one.query, one.category),
        )
    )
    rows[BULLETS].extend((number, place, text) for place, text in enumerate(one.bullets))
    rows[ATTRIBUTES].extend((number, place, text) for place, text in enumerate(one.attributes))
    rows[CATEGORIES].extend((number, place, text) for place, text in enumerate(one.path))
    rows[OPTIONS].extend(
        (number, place, option.name, option.value, option.price)
        for place, option in enumerate(one.options)
    )


def _add_goal(rows: dict[Table, list[tuple[Any, ...]]], goal: Goal) -> None:
    rows[GOALS].append((goal.number, goal.asin, goal.instruction, goal.bound))
    rows[GOAL_ATTRIBUTES].extend(
        (goal.number, place, text) for place, text in enumerate(goal.attributes)
    )
    rows[GOAL_OPTIONS].extend(
        (goal.number, place, name, value) for place, (name, value) in enumerate(goal.options)
    )


def read_product(connection: Connection, asin: str) -> Product | None:
    """Return a product; None where there is none of that id."""
    row = connection.execute(_PRODUCT, {"asin": asin}).mappings().first()
    if row is None:
        return None
    bullets, attributes, path, options = (
        connection.execute(_LISTS[table], {"owner": row["product"]}).all()
        for table in (BULLETS, ATTRIBUTES, CATEGORIES, OPTIONS)
    )
    return Product(
        row["asin"],
        row["title"],
        row["description"],
        tuple(text for _, _, text in bullets),
        tuple(attribute for _, _, attribute in attributes),
        tuple(Option(name, value, price) for _, _, name, value, price in options),
        row["low"],
        row["high"],
        row["price"],
        row["query"],
        row["category"],
        tuple(category for _, _, category in path),
    )


def read_goal(connection: Connection, number: int) -> Goal | None:
    """Return a goal; None where there is none of that number."""
    row = connection.execute(_GOAL, {"goal": number}).mappings().first()
    if row is None:
        return None
    attributes, options = (
        connection.execute(_LISTS[table], {"owner": number}).all()
        for table in (GOAL_ATTRIBUTES, GOAL_OPTIONS)
    )
    return Goal(
        number,
        row["asin"],
        row["instruction"],
        tuple(attribute for _, _, attribute in attributes),
        tuple((name, value) for _, _, name, value in options),
        row["bound"],
    )


# Made once: making a statement takes longer than running it.
_PRODUCT: Final = select(PRODUCTS).where(PRODUCTS.c.asin == bindparam("asin"))
_GOAL: Final = select(GOALS).where(GOALS.c.goal == bindparam("goal"))
_LISTS: Final = {
    table: select(table).where(table.columns[0] == bindparam("owner")).order_by(table.c.place)
    for table in (BULLETS, ATTRIBUTES, CATEGORIES, OPTIONS, GOAL_ATTRIBUTES, GOAL_OPTIONS)
}


def read_summaries(connection: Connection, asins: Sequence[str]) -> Mapping[str, RowMapping]:
    """Return title and prices of products, by id."""
    one = PRODUCTS.c
    wanted = select(one.asin, one.title, one.low, one.high).where(one.asin.in_(asins))
    return {row["asin"]: row for row in connection.execute(wanted).mappings()}


def texts_of(product: Product) -> tuple[str, ...]:
    """Return the texts of a product that are searched."""
    values = (option.value for option in product.options)
    return product.title, product.description, *product.bullets, *values


def read_documents(connection: Connection) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the id of every product with its `texts_of`."""
    lists = [
        _texts_by_product(connection, table, column)
        for table, column in ((BULLETS, "text"), (OPTIONS, "value"))
    ]
    one = PRODUCTS.c
    told = select(one.product, one.asin, one.title, one.description)
    for number, asin, title, description in connection.execute(told):
        texts = (text for of_list in lists for text in of_list.get(number, ()))
        yield asin, (title, description, *texts)


def _texts_by_product(connection: Connection, table: Table, column: str) -> dict[int, list[str]]:
    """Return by product the texts of a list."""
    told = select(table.c.product, table.columns[column]).order_by(table.c.product, table.c.place)
    found: dict[int, list[str]] = {}
    for rows in connection.execute(told).partitions(_FETCHED):
        for number, text in rows:
            found.setdefault(number, []).append(text)
    return found
