"""``dqa dellma tree``: the tree of a DeLLMa decision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dqa.cli import options
from dqa.cli.help import OUTPUT
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json
from dqa.core.files import require_new_file

_PAGE = "New HTML page with the whole tree: states, rankings and statements."


def tree(
    *,
    only: options.DecisionOptions,
    html: Annotated[Path | None, option("--html FILE", OUTPUT, _PAGE)] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a DeLLMa decision: the reason, and the utilities of all actions.

    --html and --json also show the beliefs, states, rankings and statements.
    """
    from dqa.api.stored import read_run
    from dqa_dellma.tree.decision_tree import find_tree
    from dqa_dellma.tree.page import write_tree
    from dqa_dellma.tree.text import echo_tree

    if html is not None:
        require_new_file(html)
    found = find_tree(read_run(only.run).select(*only.where()))
    if html is not None:
        write_tree(found, html)
    if as_json:
        echo_json(found.to_json())
    elif html is not None:
        echo(f"The page is in {html}.")
    else:
        echo_tree(found)
