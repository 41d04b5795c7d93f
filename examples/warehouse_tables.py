"""The twelve tables of the example's warehouse, as its owner would have declared them.

Everything is plain: keys, foreign keys, indexes and comments, in whichever SQL dialect SQLAlchemy
spells them. `NODES` and `RELATIONSHIPS` say how the graph twin reads the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
)
from sqlalchemy.dialects.postgresql import JSONB

METADATA = MetaData()
_JSON = JSON().with_variant(JSONB(), "postgresql")


def _number(name: str, comment: str = "") -> Column[int]:
    return Column(name, Integer, nullable=False, comment=comment or None)


def _key(name: str, refers: str = "") -> Column[int]:
    """Return a column of the primary key, whose numbers the owner gives."""
    others = [ForeignKey(refers)] if refers else []
    return Column(name, Integer, *others, primary_key=True, autoincrement=False)


def _refers(name: str, to: str) -> Column[int]:
    return Column(name, Integer, ForeignKey(to), nullable=False)


def _name(name: str = "name", length: int = 60, *, unique: bool = True) -> Column[str]:
    return Column(name, String(length), nullable=False, unique=unique or None)


def _money(name: str, comment: str, digits: int = 10) -> Column[object]:
    return Column(name, Numeric(digits, 2), nullable=False, comment=comment)


SUPPLIER = Table(
    "supplier",
    METADATA,
    _key("supplier_id"),
    _name(),
    Column("country", String(2), nullable=False, comment="ISO 3166 code"),
    Column("certified", Boolean(create_constraint=False), nullable=False),
    Column("since", Date, nullable=False, comment="first day of the contract"),
    Column("email", String(120), comment="whom to write to; not every supplier has one"),
    Column("terms", _JSON, comment="payment terms"),
    comment="Firms that parts are bought from",
)
PRODUCT = Table(
    "product",
    METADATA,
    _key("product_id"),
    _name(),
    Column("family", String(20), nullable=False, index=True, comment="family of products"),
    _money("list_price", "price of a unit without discount"),
    Column("weight_kg", Numeric(8, 3), nullable=False),
    Column("launched_on", Date, nullable=False),
    Column("discontinued_on", Date, comment="empty while the product is sold"),
    Column("attributes", _JSON, comment="colour and material"),
    comment="What is made and sold",
)
PRODUCT_SUPPLIER = Table(
    "product_supplier",
    METADATA,
    _key("product_id", "product.product_id"),
    _key("supplier_id", "supplier.supplier_id"),
    _money("unit_cost", "what the supplier asks for the parts of a unit"),
    _number("lead_days", "days from an order to the delivery that is promised"),
    _number("minimum_order", "least units of an order"),
    comment="Which supplier offers the parts of which product",
)
PLANT = Table(
    "plant",
    METADATA,
    _key("plant_id"),
    _name(),
    Column("region", String(20), nullable=False),
    Column("opened_on", Date, nullable=False),
    Column("automated", Boolean(create_constraint=False), nullable=False),
    _money("quarterly_cost", "what the plant costs a quarter, whatever it makes", 14),
    Column("manager_email", String(120)),
    comment="Where products are made",
)
PLANT_PRODUCT = Table(
    "plant_product",
    METADATA,
    _key("plant_id", "plant.plant_id"),
    _key("product_id", "product.product_id"),
    _money("unit_cost", "what making a unit costs there"),
    _number("daily_rate", "units that can be made a day"),
    comment="Which plant can make which product",
)
WAREHOUSE = Table(
    "warehouse",
    METADATA,
    _key("warehouse_id"),
    _name(),
    Column("region", String(20), nullable=False),
    _number("capacity", "units that find room"),
    _money("holding_cost", "what keeping a unit for a quarter costs"),
    Column("opened_on", Date, nullable=False),
    comment="Where products wait for customers",
)
STOCK = Table(
    "stock",
    METADATA,
    _key("warehouse_id", "warehouse.warehouse_id"),
    _key("product_id", "product.product_id"),
    _number("on_hand", "units that lie there"),
    Column("reorder_point", Integer, comment="empty where nobody set one"),
    Column("counted_on", Date, comment="empty where it was never counted"),
    comment="What lies in the warehouses today",
)
CUSTOMER = Table(
    "customer",
    METADATA,
    _key("customer_id"),
    _name(unique=False),
    Column("region", String(20), nullable=False),
    Column("segment", String(20), nullable=False),
    Column("email", String(120)),
    Column("since", Date, nullable=False),
    comment="Who buys",
)
CUSTOMER_ORDER = Table(
    "customer_order",
    METADATA,
    _key("order_id"),
    _refers("customer_id", "customer.customer_id"),
    _refers("warehouse_id", "warehouse.warehouse_id"),
    Column("ordered_on", Date, nullable=False),
    Column("quarter", Date, nullable=False, index=True, comment="first day of its quarter"),
    Column("priority", Boolean(create_constraint=False), nullable=False),
    Column("channel", String(10), nullable=False),
    comment="Orders of customers; each is served from one warehouse",
)
ORDER_LINE = Table(
    "order_line",
    METADATA,
    _key("order_id", "customer_order.order_id"),
    _key("line_no"),
    _refers("product_id", "product.product_id"),
    _refers("plant_id", "plant.plant_id"),
    _number("quantity", "units that were ordered"),
    _number("shipped_quantity", "units that were shipped; the rest was out of stock and lost"),
    _money("unit_price", "what the customer pays for a unit, discount taken off"),
    comment="What an order is about, a product a line, and the plant that made it",
)
SHIPMENT = Table(
    "shipment",
    METADATA,
    _key("shipment_id"),
    _refers("supplier_id", "supplier.supplier_id"),
    _refers("product_id", "product.product_id"),
    _number("quantity"),
    Column("quarter", Date, nullable=False, index=True, comment="first day of its quarter"),
    Column("due_on", Date, nullable=False),
    Column("delivered_on", Date, comment="empty where it never came"),
    comment="Deliveries of suppliers: parts of one product each",
)
LANE = Table(
    "lane",
    METADATA,
    _key("plant_id", "plant.plant_id"),
    _key("warehouse_id", "warehouse.warehouse_id"),
    _money("unit_freight", "what carrying a unit from the plant to the warehouse costs"),
    _number("transit_days"),
    comment="Ways from plants to warehouses",
)
Index("order_line_product", ORDER_LINE.c.product_id)
Index("order_line_plant", ORDER_LINE.c.plant_id)
Index("plant_product_product", PLANT_PRODUCT.c.product_id)
Index("product_supplier_supplier", PRODUCT_SUPPLIER.c.supplier_id)
Index("customer_order_warehouse", CUSTOMER_ORDER.c.warehouse_id)
Index("customer_order_customer", CUSTOMER_ORDER.c.customer_id)
Index("shipment_product", SHIPMENT.c.product_id)
Index("shipment_supplier", SHIPMENT.c.supplier_id)


@dataclass(frozen=True, slots=True)
class Relationship:
    """Rows of a table as relationships of the graph.

    Attributes
    ----------
    label
        Its type.
    table
        Whose rows they are.
    source, target
        A node's label, and the column that holds its key.
    """

    label: str
    table: str
    source: tuple[str, str]
    target: tuple[str, str]


NODES: Mapping[str, str] = {
    "Supplier": "supplier",
    "Product": "product",
    "Plant": "plant",
    "Warehouse": "warehouse",
    "Customer": "customer",
    "CustomerOrder": "customer_order",
    "Shipment": "shipment",
}
"""Labels of the graph's nodes, with their tables; the first column of a table is its key."""
_PRODUCT = ("Product", "product_id")
_ORDER = ("CustomerOrder", "order_id")
RELATIONSHIPS = (
    Relationship("OFFERS", "product_supplier", ("Supplier", "supplier_id"), _PRODUCT),
    Relationship("MAKES", "plant_product", ("Plant", "plant_id"), _PRODUCT),
    Relationship("HOLDS", "stock", ("Warehouse", "warehouse_id"), _PRODUCT),
    Relationship("LANE", "lane", ("Plant", "plant_id"), ("Warehouse", "warehouse_id")),
    Relationship("PLACED", "customer_order", ("Customer", "customer_id"), _ORDER),
    Relationship("SERVED_FROM", "customer_order", _ORDER, ("Warehouse", "warehouse_id")),
    Relationship("LINE", "order_line", _ORDER, _PRODUCT),
    Relationship("SENT", "shipment", ("Supplier", "supplier_id"), ("Shipment", "shipment_id")),
    Relationship("CONTAINS", "shipment", ("Shipment", "shipment_id"), _PRODUCT),
)


def node_columns(label: str) -> list[str]:
    """Return the columns of a node's table that are its properties: what leads to no other node."""
    table = NODES[label]
    ends = {
        column
        for each in RELATIONSHIPS
        if each.table == table
        for end, column in (each.source, each.target)
        if end != label
    }
    return [column.name for column in METADATA.tables[table].columns if column.name not in ends]


def relationship_columns(relationship: Relationship) -> list[str]:
    """Return the columns that are properties of a relationship; none where its rows are nodes."""
    if relationship.table in NODES.values():
        return []
    ends = (relationship.source[1], relationship.target[1])
    columns = METADATA.tables[relationship.table].columns
    return [column.name for column in columns if column.name not in ends]
