"""``dqa dellma``: what belongs to DeLLMa, beside its deciders."""

from __future__ import annotations

import typer

from dqa.cli.help import Command, Group
from dqa_dellma.commands.portfolio import portfolio
from dqa_dellma.commands.tree import tree

app = typer.Typer(
    cls=Group,
    help="DeLLMa: what a decision rests on, and the best combination of actions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("tree", cls=Command)(tree)
app.command("portfolio", cls=Command)(portfolio)
