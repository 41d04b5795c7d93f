<<<<<<< HEAD
"""``dqa memory``: memories of LDM2, looked at, formed and refined."""
=======
"""``dqa memory``: forming and refining what LDM2 remembers."""
>>>>>>> 02ae5c7bfc9bc709cdc95645055354ab9e30e112

from __future__ import annotations

import typer

from dqa.cli.help import Command, Group
<<<<<<< HEAD
from dqa_ldm2.commands import looking

app = typer.Typer(
    cls=Group,
    help="Memories of LDM2: what decisions of the past are remembered, by which version.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("show", cls=Command)(looking.show)
app.command("search", cls=Command)(looking.search)
app.command("diff", cls=Command)(looking.diff)
app.command("undo", cls=Command)(looking.undo)
app.command("export", cls=Command)(looking.export)
app.command("import", cls=Command)(looking.import_)
=======
from dqa_ldm2.commands.building import build, refine

app = typer.Typer(
    cls=Group,
    help="LDM2: what its deciders remember.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("build", cls=Command)(build)
app.command("refine", cls=Command)(refine)
>>>>>>> 02ae5c7bfc9bc709cdc95645055354ab9e30e112
