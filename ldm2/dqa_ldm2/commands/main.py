"""``dqa memory``: forming and refining what LDM2 remembers."""

from __future__ import annotations

import typer

from dqa.cli.help import Command, Group
from dqa_ldm2.commands.building import build, refine

app = typer.Typer(
    cls=Group,
    help="LDM2: what its deciders remember.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("build", cls=Command)(build)
app.command("refine", cls=Command)(refine)
