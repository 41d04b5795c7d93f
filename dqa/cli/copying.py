"""``dqa copy``: a run from a folder into a store, or back."""

from __future__ import annotations

from typing import Annotated

from dqa.cli import options
from dqa.cli.help import OUTPUT
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json


def copy(
    *,
    run: options.Run,
    out: Annotated[str, option("--out DIR|STORE", OUTPUT)],
    as_json: options.AsJson = False,
) -> None:
    """Copy a run from a folder into a store, from a store into a folder, or into another one.

    Results, traces, prompts and settings are the same there, and the copy can be gone on with.

    Parameters
    ----------
    out
        New folder; or a store, runs.db or a database's URL, with #NAME for the run.
    """
    from dqa.api.stored import copy_run

    place = copy_run(run, out)
    if as_json:
        echo_json({"run": str(place)})
    else:
        echo(f"{run} is copied to {place}.")
