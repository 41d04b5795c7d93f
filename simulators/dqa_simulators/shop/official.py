"""Read WebShop's product files: three JSON files in one folder.

``items_shuffle*.json`` contains the products, ``items_ins_v2*.json`` their attributes by id, and
``items_human_ins.json`` instructions that people wrote. The list of products may be larger than
memory, so products are read one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, TypeAdapter, ValidationError

from dqa.core.errors import DataError, UsageError
from dqa.core.files import read_bytes
from dqa_simulators.shop.records import (
    BETWEEN_CATEGORIES,
    Goal,
    Product,
    bound_price,
    spell_option,
    state_bound,
)

_UNKNOWN_PRICE: Final = 100.0
"""WebShop's price for a product without a price."""
_LONGEST_ASIN: Final = 10
_LARGEST: Final = 4_000_000_000
_PIECE: Final = 1 << 18
_LONGEST: Final = 16_000_000
"""The maximum number of characters of one product."""
_FILES: Final = ("items_shuffle*.json", "items_ins_v2*.json", "items_human_ins.json")
Files = tuple[Path, Path, Path]
"""The files of products, attributes and instructions."""


def _as_list(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    return [] if value is None else [value] if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class _Value(BaseModel):
    value: str


class _Item(BaseModel):
    asin: Text
    name: Text
    full_description: Text
    small_description: Texts
    query: Text
    category: Text
    product_category: Text
    pricing: Text = ""
    customization_options: Annotated[
        dict[str, tuple[_Value, ...] | None], BeforeValidator(lambda value: value or {})
    ] = {}


class _Attributes(BaseModel):
    attributes: Texts = ("DUMMY_ATTR",)


class _Instruction(BaseModel):
    instruction: Text
    instruction_attributes: Texts
    instruction_options: dict[str, str] | tuple[str, ...] | None = ()


_T = TypeVar("_T")
_ATTRIBUTES: Final = TypeAdapter(dict[str, _Attributes])
_INSTRUCTIONS: Final = TypeAdapter(dict[str, tuple[_Instruction, ...]])


def find_files(folder: Path) -> Files:
    """Return WebShop's files in a folder.

    Of several files of a kind, the file with the shortest name is used: it contains all products.
    A file of attributes with the same ending as the file of products has priority.

    Raises
    ------
    UsageError
        A file is missing.
    """
    found = []
    for pattern in _FILES:
        files = sorted(folder.glob(pattern), key=lambda file: (len(file.name), file.name))
        if not files:
            problem = f"has no {pattern}" if folder.is_dir() else "does not exist"
            raise UsageError(
                f"The folder {folder} {problem}. Set shop.items to a folder with WebShop's files "
                f"{', '.join(_FILES)}, or omit it to generate a catalogue."
            )
        found.append(files[0])
    products, attributes, instructions = found
    same = folder / f"items_ins_v2{products.name.removeprefix('items_shuffle')}"
    return products, same if same.is_file() else attributes, instructions


def key_of_files(files: Files) -> str:
    """Return a hash of the paths, sizes and modification times of the files."""
    facts = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return blake2b(json.dumps(facts).encode(), digest_size=8).hexdigest()


def read_items(files: Files, most: int | None) -> Iterator[tuple[Product, Sequence[Goal]]]:
    """Yield the products of WebShop's files, each with the goals that people wrote for it.

    As in WebShop, products are skipped if their id is missing, repeated or longer than ten
    characters. Instructions without attributes are also skipped.

    Parameters
    ----------
    files
        Files from `find_files`.
    most
        The maximum number of products to read; None for all.

    Raises
    ------
    DataError
        A file is invalid. The message states the location.
    """
    products, attributes, instructions = files
    attributes_of = _read_by_asin(attributes, _ATTRIBUTES)
    instructions_of = _read_by_asin(instructions, _INSTRUCTIONS)
    seen: set[str] = set()
    goals = 0
    for number, content in enumerate(islice(_iterate(products), most), 1):
        try:
            item = _Item.model_validate(content)
        except ValidationError as error:
            raise _broken(products, f"product {number}", _problem_of(error)) from error
        if item.asin == "nan" or len(item.asin) > _LONGEST_ASIN or item.asin in seen:
            continue
        seen.add(item.asin)
        described = attributes_of.get(item.asin, _Attributes())
        product = _product(item, described, products, number)
        wanted = []
        for count, instruction in enumerate(instructions_of.get(item.asin, ()), 1):
            if instruction.instruction_attributes:
                wanted.append(_goal(goals, product, count, instruction))
                goals += 1
        yield product, wanted


def _product(item: _Item, described: _Attributes, file: Path, number: int) -> Product:
    try:
        prices = [float(re.sub(r"[^\d.]", "", part)) for part in item.pricing.split("$")[1:]]
    except ValueError:
        prices = []
    if item.pricing and not prices:
        problem = f"'pricing' is '{item.pricing[:40]}', but must be a price such as '$9.99'"
        raise _broken(file, f"product {number}", problem)
    low, high = (prices or [_UNKNOWN_PRICE])[0], (prices or [_UNKNOWN_PRICE])[:2][-1]
    options = tuple(
        (name.lower(), spell_option(one.value))
        for name, values in item.customization_options.items()
        for one in values or ()
    )
    price = low + (high - low) * _draws(item.asin, "price")[0]
    path = tuple(part.strip() for part in item.product_category.split(BETWEEN_CATEGORIES))
    texts = (item.name, item.full_description, item.small_description)
    return Product(
        *(item.asin, *texts, described.attributes, options, low, high, price),
        *(item.query.lower().strip(), item.category, path),
    )


def _goal(number: int, product: Product, position: int, instruction: _Instruction) -> Goal:
    bound = bound_price(product.price, *_draws(product.asin, f"bound {position}"))
    options = instruction.instruction_options or ()
    if not isinstance(options, dict):
        options = {str(position): value for position, value in enumerate(options, 1)}
    text = instruction.instruction.strip(".") + state_bound(bound)
    wanted = instruction.instruction_attributes, tuple(options.items())
    return Goal(number, product.asin, text, *wanted, bound)


def _problem_of(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    return f"'{field}': {first['msg']}" if field else first["msg"]


def _broken(file: Path, where: str, problem: str) -> DataError:
    return DataError(f"{file}, {where}: {problem}. Correct the file, or download it again.")


def _read_by_asin(file: Path, content: TypeAdapter[dict[str, _T]]) -> dict[str, _T]:
    try:
        return content.validate_json(read_bytes(file, most=_LARGEST))
    except ValidationError as error:
        raise _broken(file, "the whole file", _problem_of(error)) from error


def _iterate(file: Path) -> Iterator[Any]:
    """Yield the values of a JSON array, one at a time."""
    decode, buffer, opening, number = json.JSONDecoder().raw_decode, "", "[", 0
    try:
        with file.open(encoding="utf-8") as opened:
            while True:
                buffer = buffer.lstrip() or opened.read(_PIECE).lstrip()
                if buffer[:1] == "]" and number:
                    return
                if buffer[:1] != opening:
                    raise _broken(file, f"product {number + 1}", f"expected '{opening}'")
                value, buffer = _decoded(decode, buffer[1:], opened.read)
                yield value
                number, opening = number + 1, ","
    except ValueError as error:  # not UTF-8, or not JSON
        raise _broken(file, f"product {number + 1}", str(error)) from error


def _decoded(decode: Any, buffer: str, read: Any) -> tuple[Any, str]:  # noqa: ANN401
    """Return the next value and the text after it. Read more text if the value is incomplete."""
    while True:
        buffer = buffer.lstrip()
        try:
            value, end = decode(buffer)
        except json.JSONDecodeError:
            piece = read(_PIECE) if len(buffer) < _LONGEST else ""
            if not piece:
                raise
            buffer += piece
        else:
            return value, buffer[end:]


def _draws(asin: str, what: str) -> tuple[float, float]:
    """Return two pseudo-random numbers in [0, 1) that depend only on a product's id and `what`.

    WebShop instead draws new prices and bounds in every process.
    """
    digest = blake2b(f"{asin} {what}".encode(), digest_size=8).digest()
    one, other = int.from_bytes(digest[:4]), int.from_bytes(digest[4:])
    return one / 2**32, other / 2**32
