"""Tournaments: the tables of games that papers printed, played again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dqa import plugins
from dqa.api.playing import Contestant, play
from dqa.api.reading import read_run
from dqa.api.runs import Run
from dqa.api.training import ToldTraining, train_missing
from dqa.api.watching import Watcher
from dqa.core.errors import MissingKeyError, PluginError, UnknownNameError, UsageError
from dqa.evaluation.location import RunLocation, locate_run
from dqa.evaluation.playing.paper import GameView, view_games
from dqa.evaluation.publications import Publication, PublishedGames
from dqa.evaluation.run_files import require_writable
from dqa.worlds.base import count_players
from dqa.worlds.training import watch_training

if TYPE_CHECKING:
    from dqa.evaluation.options import CallOptions, RunOptions

NOBODY = "none"
"""The reference of runs whose decisions are compared with nobody's."""


@dataclass(frozen=True)
class Tournament:
    """Games of one world, and the tables of papers that they stand beside.

    Attributes
    ----------
    run
        The games.
    views
        By paper that printed tables of this world; () where none did.
    left_out
        Of the players that a paper has, those that cannot play here, each with the reason.
    """

    run: Run
    views: tuple[GameView, ...]
    left_out: tuple[str, ...] = ()


def play_tournament(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: str,
    players: Sequence[Contestant] = (),
    opponents: Sequence[Contestant] = (),
    *,
    out: RunLocation | Path | str | None = None,
    retry_failed: bool = False,
    history: Path | str | None = None,
    options: RunOptions | None = None,
    calls: CallOptions | None = None,
    watcher: Watcher | None = None,
    **fields: Any,  # noqa: ANN401  (fields of the spec)
) -> Tournament:
    """Let every player play every opponent, and put the figures beside those of papers.

    In a world of one player each plays alone.

    Parameters
    ----------
    world
        What is played.
    players, opponents
        Who plays; by default the players and opponents of the papers' tables of this world, as far
        as they are installed. In a world of one player there are no opponents.
    out, retry_failed, history, options, calls, watcher
        As `dqa.play` takes them; the same call goes on with its own run.
    **fields
        The other fields of a `PlaySpec`. By default games of two players are mirrored, and the
        reference is the papers'.

    Raises
    ------
    UsageError
        No paper has a table of this world and nobody is named, or as of `dqa.play`.
    """
    require_writable(None if out is None else locate_run(out))
    printed = tables_of(world)
    alone = players_of(world) == 1
    left_out: list[str] = []
    seed = fields.get("seed", 0)
    watcher = watcher or Watcher()
    of_papers = _players_of(world)
    train_missing(world, _wanted(of_papers, printed, players, opponents, fields), seed, watcher)
    with watch_training(ToldTraining(watcher)):
        if not players:
            players = _installed(world, of_papers, seed, left_out)
        if not (opponents or alone):
            named = [name for table in printed for name in table.opponents]
            opponents = _installed(world, named, seed, left_out)
    if not (players and (opponents or alone)):
        asked = "--players" if alone else "--players, --opponents"
        raise UsageError(
            f"No installed package has a table of games of '{world}' with players that are there: "
            f"name who plays ({asked})."
        )
    fields.setdefault("mirror", not alone)
    if "reference" not in fields:
        with watch_training(ToldTraining(watcher)):
            fields["reference"] = reference_of(world, None, seed)
    run = play(
        *(world, players, opponents),
        out=out,
        retry_failed=retry_failed,
        history=history,
        options=options,
        calls=calls,
        watcher=watcher,
        **fields,
    )
    return Tournament(run, view_run(run), tuple(dict.fromkeys(left_out)))


def _wanted(
    of_papers: Sequence[str],
    printed: Sequence[PublishedGames],
    players: Sequence[Contestant],
    opponents: Sequence[Contestant],
    fields: dict[str, Any],
) -> Iterator[str]:
    """Yield the names of everybody who may play or be the reference."""
    yield from (one for one in players or of_papers if isinstance(one, str))
    faced = [name for table in printed for name in table.opponents]
    yield from (one for one in opponents or faced if isinstance(one, str))
    compared = [fields["reference"]] if "reference" in fields else [t.reference for t in printed]
    yield from (name for name in compared if name is not None)


def view_run(run: Run | RunLocation | Path | str) -> tuple[GameView, ...]:
    """Put a run of games beside the tables of every paper that has some of its world.

    Raises
    ------
    UsageError
        It is a run of questions, or holds no game yet.
    """
    found = run if isinstance(run, Run) else read_run(run)
    if found.games is None:
        raise UsageError("This is a run of questions: 'dqa analyse --paper' has papers for it.")
    return tuple(
        view_games(paper, found.games) for paper in _papers() if found.games.world in paper.worlds
    )


def tournament_worlds() -> tuple[str, ...]:
    """Return the installed worlds of which papers printed tables, in the order of these."""
    named = dict.fromkeys(world for paper in _papers() for world in paper.worlds)
    return tuple(world for world in named if world in plugins.names("world"))


def players_of(world: str) -> int:
    """Return how many players a world has."""
    return count_players(plugins.world(world))


def tables_of(world: str) -> tuple[PublishedGames, ...]:
    """Return the tables that papers printed of a world."""
    return tuple(table for paper in _papers() for table in paper.games if table.world == world)


def _players_of(world: str) -> list[str]:
    """Return who plays a world in the tables of papers, as far as somebody stands for them here."""
    papers = _papers()
    named = [
        *(r.player for p in papers for one in p.games if one.world == world for r in one.rows),
        *(r.player for p in papers for one in p.episodes if one.world == world for r in one.rows),
    ]
    return [name for name in dict.fromkeys(named) if name]


def reference_of(world: str, named: str | None, seed: int) -> str | None:
    """Return whom decisions are compared with.

    Parameters
    ----------
    world
        What is played.
    named
        Whom a user named, ``none`` for nobody; None for the reference of the papers, where the
        world has such a program and it can play here.
    seed
        Of the run.
    """
    if named is not None:
        return None if named == NOBODY else named
    known = plugins.world(world).policies
    wanted = [table.reference for table in tables_of(world) if table.reference in known]
    return next((name for name in wanted if name and _problem(world, name, seed) is None), None)


def place_for(out: str | None, world: str, several: bool) -> RunLocation | None:
    """Return where the run of one world is kept, of a tournament that may have several."""
    if out is None:
        return None
    place = locate_run(out)
    if not several:
        return place
    if place.folder is not None:
        return RunLocation.of_folder(place.folder / world)
    return place.named(f"{place.name}-{world}" if place.name else world)


def _papers() -> tuple[Publication, ...]:
    papers = []
    for name in plugins.names("publication"):
        try:
            papers.append(plugins.publication(name))
        except PluginError:
            continue  # what cannot be loaded has no tables; 'dqa list' says why
    return tuple(papers)


def _installed(
    world: str, names: Sequence[str], seed: int, left_out: list[str]
) -> list[Contestant]:
    """Return who can play here, and note who cannot, with the reason."""
    found: list[Contestant] = []
    for name in dict.fromkeys(names):
        problem = _problem(world, name, seed)
        if problem is None:
            found.append(name)
        else:
            left_out.append(f"{name}: {problem}")
    return found


def _problem(world: str, name: str, seed: int) -> str | None:
    """Return why a player cannot play here; None where it can.

    A program is made to find that out, and trained where it has to be, as it is to play anyway.
    """
    policies = plugins.world(world).policies
    try:
        if name in policies:
            policies[name].make(seed)
        else:
            plugins.decider(name)
    except MissingKeyError as error:
        return str(error)
    except UnknownNameError:
        return "no such player is installed"
    except PluginError as error:
        return str(error)
    return None
