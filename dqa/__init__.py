"""Decision QA: the best decision for a question, business rules and a database.

Its names are public and documented; nothing else is, except for the contracts of plug-ins in
docs/extending.md. Each is imported on first use, so ``import dqa`` costs nothing.

Evaluate deciders on generated questions, or on a release::

    import dqa

    run = dqa.evaluate(dqa.generate(count=5), ["planrag", "first"], databases=["sqlite"])
    print(run.report())

Ask your own database, in your own words::

    import dqa

    decision = dqa.ask(
        "shop.db",
        "Which supplier do we drop?",
        candidates="SELECT name FROM supplier",
        model="openai:gpt-5",
    )
    print(decision.choice, [asked.statement for asked in decision.evidence])

Open a database, read-only and behind the guard::

    import dqa

    database = dqa.open_database("shop.db", limits=dqa.Limits(rows=20))
    print(database.query("SELECT name FROM supplier").to_text())

Read a run that was written down::

    import dqa

    run = dqa.read_run("runs/first")
    print(run.report(), [result.choice for result in run.find(wrong=True)])

What is evaluated is data, too: a `RunSpec` can be written, read, compared, and built in another
process (``dqa.evaluate(dqa.RunSpec.read("spec.json"))``).
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, whose import takes longer than this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose public names are in its stub."""

    @cache
    def modules() -> dict[str, str]:
        with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:  # noqa: PTH123
            imports = re.findall(r"^from (\S+) import \w+ as (\w+)$", stub.read(), re.MULTILINE)
        return {name: module for module, name in imports}

    def get(name: str) -> Any:  # noqa: ANN401  (whatever is public)
        if name == "__all__":
            return sorted(modules())
        if name not in modules():
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(modules()[name]), name)

    return get, lambda: sorted(modules())


__getattr__, __dir__ = lazy_names(__name__, __file__)
