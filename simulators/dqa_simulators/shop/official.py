"""WebShop's own product files, where a user has them: three JSON files in one folder.

``items_shuffle*.json`` is a list of products, ``items_ins_v2*.json`` tells the attributes of each
by its id, and ``items_human_ins.json`` what people asked for. The list may be larger than memory,
so it is read product by product.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Final

from dqa.core.errors import DataError, ParseError, UsageError
from dqa.core.files import parse_json, read_bytes
from dqa_simulators.shop.arrays import iterate_array
from dqa_simulators.shop.records import (
    BETWEEN_CATEGORIES,
    Goal,
    Option,
    Product,
    bound_price,
    spell_option,
    state_bound,
)

_UNKNOWN_PRICE: Final = 100.0
"""What a product costs that has no price; so it is in WebShop."""
_LONGEST_ASIN: Final = 10
_NO_ATTRIBUTES: Final = ("DUMMY_ATTR",)
_LARGEST: Final = 4_000_000_000
_FILES: Final = ("items_shuffle*.json", "items_ins_v2*.json", "items_human_ins.json")


@dataclass(frozen=True, slots=True)
class ItemFiles:
    """The three files.

    Attributes
    ----------
    products, attributes, instructions
        Where they are.
    """

    products: Path
    attributes: Path
    instructions: Path

    @property
    def key(self) -> str:
        """What tells these files from others, and from what they were before."""
        told = [
            (str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns)
            for file in (self.products, self.attributes, self.instructions)
        ]
        return blake2b(json.dumps(told).encode(), digest_size=8).hexdigest()


def find_files(folder: Path) -> ItemFiles:
    """Return WebShop's files in a folder.

    Where there are several of a kind, the one without a number in its name counts, which has all
    products.

    Raises
    ------
    UsageError
        One is missing.
    """
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder {folder} with WebShop's files: set shop.items to the folder that "
            f"holds {', '.join(_FILES)}, or leave it out for a generated catalogue."
        )
    found = []
    for pattern in _FILES:
        files = sorted(folder.glob(pattern), key=lambda file: (len(file.name), file.name))
        if not files:
            raise UsageError(
                f"{folder} has no {pattern}: the shop needs {', '.join(_FILES)} of WebShop's data "
                "in one folder (shop.items), or no folder for a generated catalogue."
            )
        found.append(files[0])
    products, attributes, instructions = found
    suffix = products.name.removeprefix("items_shuffle")
    same = folder / f"items_ins_v2{suffix}"
    return ItemFiles(products, same if same.is_file() else attributes, instructions)


def read_items(files: ItemFiles, most: int | None) -> Iterator[tuple[Product, Sequence[Goal]]]:
    """Yield the products of WebShop's files, each with what people asked for who would buy it.

    As in WebShop, a product without an id, with one of over ten characters, or with one that was
    there before is left out, and so is an instruction without attributes.

    Parameters
    ----------
    files
        Where they are.
    most
        How many products of the list are read; None for all.

    Raises
    ------
    DataError
        A file is broken; the message says where, and how to mend it.
    """
    attributes = _read_by_asin(files.attributes)
    instructions = _read_by_asin(files.instructions)
    seen: set[str] = set()
    goals = 0
    for number, told in enumerate(islice(iterate_array(files.products), most), 1):
        item = _Item(files.products, f"product {number}", told)
        asin = item.text("asin")
        if asin == "nan" or len(asin) > _LONGEST_ASIN or asin in seen:
            continue
        seen.add(asin)
        product = _product(asin, item, _attributes(asin, attributes, files.attributes))
        wanted = []
        for place, one in enumerate(_instructions(asin, instructions, files.instructions), 1):
            where = f"instruction {place} of {asin}"
            goal = _goal(goals, product, place, _Item(files.instructions, where, one))
            if goal is not None:
                goals += 1
                wanted.append(goal)
        yield product, wanted


@dataclass(frozen=True, slots=True)
class _Item:
    """An object of a file, and how errors call it."""

    file: Path
    name: str
    told: Any

    def __post_init__(self) -> None:
        if not isinstance(self.told, Mapping):
            raise self.fail(f"expected an object, found {_kind(self.told)}")

    def get(self, field: str) -> Any:  # noqa: ANN401  (any JSON value)
        """Return a field that has to be there."""
        if field not in self.told:
            raise self.fail(f"'{field}' is missing")
        return self.told[field]

    def text(self, field: str) -> str:
        """Return a text; nothing where the shop has none."""
        value = self.get(field)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.fail(f"'{field}' has to be a text, not {_kind(value)}")
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of texts; one text is a list of one."""
        value = self.get(field)
        given = value if isinstance(value, list) else [] if value is None else [value]
        if not all(isinstance(one, str) for one in given):
            raise self.fail(f"'{field}' has to be a list of texts")
        return tuple(given)

    def fail(self, problem: str) -> DataError:
        """Return the error for what is wrong with it."""
        return DataError(
            f"{self.file}, {self.name}: {problem}. Mend it there, take it out, or get the file "
            "again from WebShop's data."
        )


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "a number" if value is not None else "null")


def _product(asin: str, item: _Item, attributes: tuple[str, ...]) -> Product:
    low, high = _prices(item)
    draw = _draws(asin, "price")[0]
    path = item.text("product_category").split(BETWEEN_CATEGORIES)
    return Product(
        asin,
        item.text("name"),
        item.text("full_description"),
        item.texts("small_description"),
        attributes,
        tuple(_options(item)),
        low,
        high,
        low + (high - low) * draw,
        item.text("query").lower().strip(),
        item.text("category"),
        tuple(part.strip() for part in path),
    )


def _prices(item: _Item) -> tuple[float, float]:
    """Return the lowest and the highest price that is shown."""
    told = item.told.get("pricing")
    if not told:
        return _UNKNOWN_PRICE, _UNKNOWN_PRICE
    if not isinstance(told, str):
        raise item.fail(f"'pricing' has to be a text such as '$9.99', not {_kind(told)}")
    try:
        given = [float(re.sub(r"[^\d.]", "", part)) for part in told.split("$")[1:]]
    except ValueError:
        given = []
    if not given:
        raise item.fail(f"'pricing' is '{told[:40]}', which is no price such as '$9.99'")
    return given[0], given[1] if len(given) > 1 else given[0]


def _options(item: _Item) -> Iterator[Option]:
    told = item.told.get("customization_options") or {}
    if not isinstance(told, Mapping):
        raise item.fail(f"'customization_options' has to be an object, not {_kind(told)}")
    for name, values in told.items():
        for value in values or ():
            given = value.get("value") if isinstance(value, Mapping) else None
            if not isinstance(given, str):
                raise item.fail(f"an option '{name}' has no 'value' that is a text")
            price = value.get("price")
            known = isinstance(price, int | float) and not isinstance(price, bool)
            yield Option(str(name).lower(), spell_option(given), float(price) if known else None)


def _attributes(asin: str, by_asin: Mapping[str, Any], file: Path) -> tuple[str, ...]:
    if asin not in by_asin:
        return _NO_ATTRIBUTES
    item = _Item(file, asin, by_asin[asin])
    return item.texts("attributes") if "attributes" in item.told else _NO_ATTRIBUTES


def _instructions(asin: str, by_asin: Mapping[str, Any], file: Path) -> Sequence[Any]:
    told = by_asin.get(asin, [])
    if not isinstance(told, list):
        raise DataError(
            f"{file}, {asin}: expected a list of instructions, found {_kind(told)}. Mend it there, "
            "or get the file again from WebShop's data."
        )
    return told


def _goal(number: int, product: Product, place: int, item: _Item) -> Goal | None:
    attributes = item.texts("instruction_attributes")
    if not attributes:
        return None
    first, second = _draws(product.asin, f"bound {place}")
    bound = bound_price(product.price, first, second)
    return Goal(
        number,
        product.asin,
        item.text("instruction").strip(".") + state_bound(bound),
        attributes,
        tuple(_wanted(item)),
        bound,
    )


def _wanted(item: _Item) -> Iterator[tuple[str, str]]:
    """Yield the options of a goal: an object by name, or a list of values."""
    told = item.told.get("instruction_options") or []
    if isinstance(told, Mapping):
        named = list(told.items())
    elif isinstance(told, list):
        named = [(str(place), value) for place, value in enumerate(told, 1)]
    else:
        raise item.fail(f"'instruction_options' has to be a list, not {_kind(told)}")
    for name, value in named:
        if not isinstance(value, str):
            raise item.fail("'instruction_options' has a value that is no text")
        yield name, value


def _read_by_asin(file: Path) -> Mapping[str, Any]:
    try:
        told = parse_json(read_bytes(file, most=_LARGEST))
    except json.JSONDecodeError as error:
        raise ParseError(
            file, error.lineno, f"{error.msg}. Get the file again from WebShop's data"
        ) from error
    except ValueError as error:
        raise DataError(f"{file}: {error}. Get the file again from WebShop's data.") from error
    if not isinstance(told, dict):
        raise DataError(
            f"{file}: expected an object by product id, found {_kind(told)}. Get the file again "
            "from WebShop's data."
        )
    return told


def _draws(asin: str, what: str) -> tuple[float, float]:
    """Return two numbers from 0 to below 1 that follow from a product's id.

    WebShop draws prices within a range and bounds anew in every process.
    """
    digest = blake2b(f"{asin} {what}".encode(), digest_size=8).digest()
    one, other = int.from_bytes(digest[:4]), int.from_bytes(digest[4:])
    return one / 2**32, other / 2**32
