"""Decision QA: find the best decision for a question, given business rules and a database.

The names of this package are the public interface, with the plug-in contracts in
docs/extending.md. Each name is imported on first use, so ``import dqa`` is fast.

Evaluate deciders on generated questions::

    import dqa

    run = dqa.evaluate(dqa.generate(count=5), ["planrag", "first"], databases=["sqlite"])
    print(run.report())

Ask a question about your own database::

    import dqa

    decision = dqa.ask(
        "shop.db",
        "Which supplier do we drop?",
        candidates="SELECT name FROM supplier",
        model="openai:gpt-5",
    )
    print(decision.choice, [asked.statement for asked in decision.evidence])

Open a database read-only; the guard checks every statement::

    import dqa

    database = dqa.open_database("shop.db", limits=dqa.Limits(rows=20))
    print(database.query("SELECT name FROM supplier").to_text())

Read a stored run::

    import dqa

    run = dqa.read_run("runs/first")
    print(run.report(), [result.choice for result in run.find(wrong=True)])

A `RunSpec` describes a run. It can be written to a file, compared, and read in another process
(``dqa.evaluate(dqa.RunSpec.read("spec.json"))``).
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

TYPE_CHECKING = False  # without the slow import of `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose stub file lists its public names."""

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
