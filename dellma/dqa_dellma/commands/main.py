"""Show the tree of a DeLLMa decision, or find the best combination of actions."""

from __future__ import annotations

import typer

from dqa.cli.help import Command, Group
from dqa.cli.options import documented
from dqa_dellma.commands.portfolio import portfolio
from dqa_dellma.commands.tree import tree

app = typer.Typer(cls=Group, help=__doc__, no_args_is_help=True, rich_markup_mode=None)
app.command("tree", cls=Command)(documented(tree))
app.command("portfolio", cls=Command)(documented(portfolio))
