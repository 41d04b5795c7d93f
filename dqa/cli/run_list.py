"""``dqa runs``: the runs that were written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.options import argument
from dqa.cli.output import echo, echo_json
from dqa.report.hints import resume_command

if TYPE_CHECKING:
    from dqa.api.figures import RunCounts
    from dqa.api.stored import StoredRun


def list_runs(
    *,
    folders: Annotated[list[str] | None, argument("FOLDER|STORE")] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the runs below folders and in stores: what was evaluated, and how much is right.

    The latest comes first. Decisions that a failing server, a spent budget or a bug ended have
    failed; 'dqa eval --resume RUN' repeats them and makes the missing ones.

    Parameters
    ----------
    folders
        Folders to search, with those below, or stores; by default 'runs' and the current folder.
    """
    from dqa.api.stored import find_runs

    found = find_runs(*folders or ())
    if as_json:
        echo_json([run.to_json() for run in found])
    elif found:
        _list(found)
    else:
        echo("There is no run here: 'dqa eval ... --out runs/NAME' writes one.")


def _list(found: tuple[StoredRun, ...]) -> None:
    for run in found:
        echo(f"{run.folder}  {run.began:%Y-%m-%d %H:%M} UTC  {_state(run)}")
        if run.problem is not None:
            echo(f"    {run.problem}")
            continue
        echo(f"    {run.questions}")
        asked = ", ".join(run.deciders)
        if run.databases:  # of a user's own questions they are known by what was decided
            asked += f" on {', '.join(run.databases)}"
        asked += f"; model: {run.model or 'none'}"
        if run.labelled:
            asked += f", labels: {', '.join(run.labelled)}"
        echo(f"    {asked}; {run.epochs} epochs" if run.epochs > 1 else f"    {asked}")
        echo(f"    {_figures(run.counts)}")
        if run.counts.complete is False:
            echo(f"    goes on by: {resume_command(run.folder, games=run.games)}")


def _state(run: StoredRun) -> str:
    if run.problem is not None:
        return "cannot be read"
    return {True: "complete", False: "not complete", None: "maybe complete"}[run.counts.complete]


def _figures(counts: RunCounts) -> str:
    """Return how much is judged, failed and not made, and how much of what is judged is right."""
    of = "" if counts.planned is None else f" of {counts.planned}"
    if counts.played:
        told = [f"{counts.played}{of} games played"]
    else:
        told = [f"{counts.judged}{of} judged"]
    if counts.right is not None:
        told[0] += f", {100 * counts.right:.1f} % of them right"
    if counts.unlabelled:
        told.append(f"{counts.unlabelled} without a known answer")
    if counts.failed:
        told.append(f"{counts.failed} failed")
    if counts.missing:
        told.append(f"{counts.missing} not made yet")
    return "; ".join(told)
