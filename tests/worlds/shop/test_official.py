"""WebShop's own files are read as its program reads them, and faults are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dqa.core.errors import DataError, UsageError
from dqa_simulators.shop.catalogue import Source, open_catalogue
from dqa_simulators.shop.official import find_files, read_items
from dqa_simulators.shop.records import NO_BOUND
from tests.worlds.shop.shops import make_shop, policy, visit

ITEM: dict[str, Any] = {
    "asin": "B000000001",
    "name": "Cotton Socks",
    "full_description": "Socks\nfor every day.",
    "small_description": ["Soft cotton", "Machine wash"],
    "pricing": "$4.50$9.99",
    "category": "fashion",
    "query": "Mens Socks ",
    "product_category": "Clothing \u203a Men \u203a Socks",
    "customization_options": {
        "Color": [{"value": "Navy/White", "price": 4.5}, {"value": " Red "}],
        "Size": None,
    },
    "images": [],
}
INSTRUCTION = {
    "asin": "B000000001",
    "instruction": "I need cotton socks.",
    "instruction_attributes": ["soft cotton"],
    "instruction_options": ["red"],
}


def write(
    folder: Path, items: Any = None, attributes: Any = None, instructions: Any = None
) -> Path:
    """Write the three files. A text is written unchanged."""
    given = {
        "items_shuffle.json": [ITEM] if items is None else items,
        "items_ins_v2.json": {"B000000001": {"attributes": ["soft", "machine wash"]}}
        if attributes is None
        else attributes,
        "items_human_ins.json": {"B000000001": [INSTRUCTION]}
        if instructions is None
        else instructions,
    }
    for name, value in given.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_product_is_read_as_webshop_reads_it(tmp_path: Path) -> None:
    """Spellings, prices, categories, options; and the goal with its bound."""
    ((product, (goal,)),) = read_items(find_files(write(tmp_path)), None)
    assert product.title == "Cotton Socks"
    assert product.query == "mens socks"
    assert product.path == ("Clothing", "Men", "Socks")
    assert product.choices == {"color": ("navy | white", "red")}
    assert (product.low, product.high, product.tag) == (4.5, 9.99, "$4.5 to $9.99")
    assert 4.5 <= product.price <= 9.99
    assert product.attributes == ("soft", "machine wash")
    assert goal.bound in {20.0, 30.0, 40.0}
    assert goal.instruction == f"I need cotton socks, and price lower than {goal.bound:.2f} dollars"
    assert goal.values == ("red",)


def test_what_webshop_leaves_out_is_left_out(tmp_path: Path) -> None:
    """Missing, too long and repeated ids, and instructions without attributes."""
    items = [
        {**ITEM, "asin": "nan"},
        {**ITEM, "asin": "B00000000012"},
        ITEM,
        {**ITEM, "name": "The same id"},
        {**ITEM, "asin": "B000000002", "pricing": "", "small_description": "One text"},
        {**ITEM, "asin": "B000000003", "pricing": "$1,099.00", "customization_options": ""},
    ]
    instructions = {
        "B000000001": [{**INSTRUCTION, "instruction_attributes": []}, INSTRUCTION],
        "B000000003": [{**INSTRUCTION, "instruction_options": {"size": "9"}}],
    }
    found = list(read_items(find_files(write(tmp_path, items, None, instructions)), None))
    assert [product.asin for product, _ in found] == ["B000000001", "B000000002", "B000000003"]
    assert [len(goals) for _, goals in found] == [1, 0, 1]
    first, second, third = (product for product, _ in found)
    assert first.title == "Cotton Socks"
    assert (second.price, second.bullets) == (100.0, ("One text",))
    assert second.attributes == ("DUMMY_ATTR",)
    assert (third.price, third.options) == (1099.0, ())
    assert found[2][1][0].options == (("size", "9"),)
    assert found[2][1][0].bound == NO_BOUND
    assert [goals[0].number for _, goals in found if goals] == [0, 1]
    assert len(list(read_items(find_files(tmp_path), 3))) == 1


def test_a_shop_of_official_files_is_played(tmp_path: Path) -> None:
    """The fair program buys there, too, and a file that changes is read again."""
    shop = make_shop(None, products=None, items=str(tmp_path))
    for count in (4, 5):
        ids = [f"B00000000{number}" for number in range(count)]
        write(
            tmp_path,
            [{**ITEM, "asin": one} for one in ids],
            {one: {"attributes": ["soft", "machine wash"]} for one in ids},
            {one: [{**INSTRUCTION, "asin": one}] for one in ids},
        )
        assert shop.catalogue.products == count
    played = [visit(shop.start(seed), policy("rule")) for seed in range(4)]
    assert [one.facts["task"] for one in played] == ["mens socks"] * 4
    assert all(0.0 < one.reward <= 1.0 for one in played)


def test_a_missing_folder_or_file_is_named(tmp_path: Path) -> None:
    """The message names the setting and the required files."""
    with pytest.raises(UsageError, match=r"does not exist.*items_human_ins\.json"):
        find_files(tmp_path / "nowhere")
    write(tmp_path)
    for name in ("items_human_ins.json", "items_ins_v2.json", "items_shuffle.json"):
        (tmp_path / name).unlink()
        with pytest.raises(UsageError, match=r"shop\.items"):
            find_files(tmp_path)


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"items": "{}"}, r"items_shuffle\.json, product 1: expected '\['"),
    ({"items": '[\n{"asin":\n "B'}, r"items_shuffle\.json, product 1: "),
    ({"items": [{**ITEM, "pricing": "soon"}]}, "'pricing' is 'soon'"),
    ({"items": [{**ITEM, "customization_options": [1]}]}, "'customization_options'"),
    ({"attributes": '{\n"B000000001": '}, r"items_ins_v2\.json, the whole file: "),
    (
        {"instructions": {"B000000001": [{**INSTRUCTION, "instruction_options": [3]}]}},
        "'B000000001.0.instruction_options",
    ),
    ({"instructions": {}}, "has no instruction for any of its products"),
]


def test_a_fault_is_named_with_its_place(tmp_path: Path) -> None:
    """The message names the file, the line or product, and what to do."""
    for given, told in BROKEN:
        folder = write(tmp_path, **given)
        with pytest.raises(DataError, match=told) as raised:
            open_catalogue(Source(items=str(folder)))
        assert str(tmp_path) in str(raised.value)
