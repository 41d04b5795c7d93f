"""Prepare a run of games: create the world, look up the contestants, and connect their models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from dqa import plugins
from dqa.core.decider import Decider
from dqa.core.decision import Usage
from dqa.core.errors import MissingKeyError, PluginError, UnknownNameError, UsageError
from dqa.core.question import Question
from dqa.core.text import counted
from dqa.deciders.base import DeciderFactory, Settings, read_settings
from dqa.evaluation.connecting import (
    Connected,
    NamedDecider,
    PassedObjects,
    connect,
    decider_of,
    named_decider,
)
from dqa.evaluation.options import CallOptions
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.prepare import Task, check_decider
from dqa.evaluation.results import NO_MODEL
from dqa.worlds.base import Policy, PolicyDecider, WorldFactory
from dqa.worlds.history import History
from dqa.worlds.training import hash_weights, learn
from dqa.worlds.world import World

_MOST_HASHED = 25
"""Number of deals whose first moves are hashed."""
_TWO = 2
_VERSUS = " vs "
"""The text between the names of two contestants in results."""


class CannotPlayError(UsageError):
    """A contestant cannot play the games of a world.

    For example, the decider LDM2 cannot play if its memory is empty.

    Attributes
    ----------
    player
        The contestant.
    """

    def __init__(self, player: str, reason: str) -> None:
        super().__init__(reason)
        self.player = player


@dataclass(frozen=True, slots=True)
class Game:
    """One game of a run.

    Attributes
    ----------
    world
        The world.
    number
        The number of the deal, from 1. All pairs play the same deals.
    seed
        The seed of the deal.
    mirrored
        Whether the hidden information of the two players is swapped.
    player, opponent
        The two contestants. In a world of one player, the opponent is ``""``.
    match
        The number of the match, from 0. A match is a pair of contestants in one epoch.
    """

    world: str
    number: int
    seed: int
    mirrored: bool
    player: str
    opponent: str
    match: int


@dataclass(frozen=True)
class GameSetup:
    """A run of games that is ready to start.

    Attributes
    ----------
    spec, factory
        The spec of the games, and the factory of their world.
    players
        The names that the world gives to the player and the opponent, or to the only player.
    deciders
        For each epoch, the deciders by the name of the contestant.
    reference
        The program with which the moves of players are compared; None for no comparison.
    connected
        The models of the contestants.
    content_hash
        The hash of the first moves of the first deals, and of the weights of trained programs.
    warnings
        Warnings for the user before the games start.
    """

    spec: PlaySpec
    factory: WorldFactory
    players: tuple[str, ...]
    deciders: tuple[Mapping[str, Decider], ...]
    reference: Policy | None
    connected: Connected
    content_hash: str
    warnings: tuple[str, ...] = ()

    def world(self, history: History | None) -> World:
        """Create the world, which writes its games into `history`."""
        return _make_world(self.factory, self.spec, history)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """All games of the run, ordered by deal. Every pair of contestants plays every deal.

        A deal depends only on its number and the seed of the run. Runs with the same seed therefore
        have the same deals.
        """
        spec, mirrors = self.spec, (False, True) if self.spec.mirror else (False,)
        matches = list(enumerate(product(range(1, spec.epochs + 1), spec.pairs)))
        return tuple(
            self._task(Game(spec.world, number, spec.deal(number), mirrored, *pair, match), epoch)
            for number in range(1, spec.games + 1)
            for match, (epoch, pair) in matches
            for mirrored in mirrors
        )

    def _task(self, game: Game, epoch: int) -> Task:
        contestants = [name for name in (game.player, game.opponent) if name]
        pair, mirrored = _VERSUS.join(contestants), ", mirrored" if game.mirrored else ""
        models = self.connected.models
        specs = dict.fromkeys(models[name] for name in contestants)
        text = f"Game {game.number} of {game.world}{mirrored}: {pair}."
        return Task(
            Question(game.world, f"{game.number}{'m' if game.mirrored else ''}", text, ""),
            *("sqlite", pair, str(game.seed), epoch),
            kind="relational",
            model=" + ".join(name for name in specs if name != NO_MODEL) or NO_MODEL,
            game=game,
        )


def prepare_games(
    spec: PlaySpec,
    *,
    calls: CallOptions,
    resumed: Callable[[], Usage] | None = None,
    given: PassedObjects = PassedObjects(),  # noqa: B008  (frozen)
) -> GameSetup:
    """Look up all names, connect the models and create the players.

    Parameters
    ----------
    spec
        The spec of the games.
    calls
        Options of model calls.
    resumed, given
        See `dqa.evaluation.connecting.connect`.

    Raises
    ------
    UsageError
        A name, a setting or the number of opponents is not valid, or a contestant cannot play.
    """
    factory = plugins.world(spec.world)
    world = _make_world(factory, spec, None)
    _check_pairs(world, spec)
    known = given.deciders
    programs = [one for one in spec.contestants if one in factory.policies and one not in known]
    found = {n: _find(n, factory, spec, given) for n in spec.contestants if n not in programs}
    if spec.reference is not None:
        if spec.reference not in factory.policies:
            kind = f"program of the world {spec.world} for --reference with the name"
            raise UnknownNameError(kind, spec.reference, factory.policies)
        programs.append(spec.reference)
    policies: dict[str, Policy] = {}
    contestants = [
        found.get(name) or _as_decider(name, policies, spec) for name in spec.contestants
    ]
    own = spec.changed(settings=spec.decider_settings)
    if own.settings and not found:
        raise UsageError(
            f"Neither the world nor a player has the setting {next(iter(own.settings))} (--set). "
            f"Write a setting of the world as {spec.world}.NAME."
        )
    connected = connect(own, contestants, calls, epochs=spec.epochs, resumed=resumed, given=given)
    weights: dict[str, str] = {}
    for name in dict.fromkeys(programs):  # after all checks, because training can take long
        policies[name] = _make_policy(factory, name, spec.seed, weights)
    deciders = connected.deciders(spec.rule_set)
    _check_deciders(world, spec, deciders[0])
    return GameSetup(
        *(spec, factory, world.players, deciders),
        reference=policies.get(spec.reference or ""),
        connected=connected,
        content_hash=_hash_content(world, spec, weights),
    )


def _check_pairs(world: World, spec: PlaySpec) -> None:
    """Raise `UsageError` if the number of opponents does not fit the world's number of players."""
    many = len(world.players)
    if many > _TWO:
        raise UsageError(
            f"{spec.world} has {many} players, but a run of games supports at most two: choose a "
            "world with one or two players."
        )
    if (many == 1) is not spec.alone:
        how = "leave out" if many == 1 else "name"
        raise UsageError(
            f"{spec.world} has {counted(many, 'player')}: {how} the opponents (--opponent; in "
            "Python, opponents)."
        )
    if many == 1 and spec.mirror:
        raise UsageError(f"{spec.world} has one player: leave out mirror (--mirror).")


def _make_policy(factory: WorldFactory, name: str, seed: int, weights: dict[str, str]) -> Policy:
    """Create a program of the world, and add the hash of its weights to `weights`."""
    created = factory.policies[name]
    if created.trainer is None:
        try:
            return created.make(seed)
        except MissingKeyError as error:  # a library is missing that only this program needs
            raise CannotPlayError(name, str(error)) from error
    learned = learn(created.trainer, seed).weights
    weights[name] = hash_weights(learned)
    return created.trainer.play(learned)


def _make_world(factory: WorldFactory, spec: PlaySpec, history: History | None) -> World:
    """Create the world of a spec.

    Raise `UsageError` for a setting that the world does not accept.
    """
    fields = factory.settings.model_fields
    for name in spec.world_settings:
        if name not in fields:
            kind, known = f"setting of the world '{factory.name}'", list(fields)
            raise UnknownNameError(kind, f"{factory.name}.{name}", known)
    own = read_settings(factory.settings, spec.world_settings, factory.name)
    return factory.make(own, history)


def _hash_content(world: World, spec: PlaySpec, weights: Mapping[str, str]) -> str:
    """Return a hash of the first moves of the first deals, and of the weights of programs.

    The hash changes if the world changes, or if a program is trained again with another result.
    """
    content: list[object] = [spec.world, sorted(spec.world_settings.items())]
    content += [weights] if weights else []
    mirrors = (False, True) if spec.mirror else (False,)
    for number in range(1, min(spec.games, _MOST_HASHED) + 1):
        for mirrored in mirrors:
            with closing(world.start(spec.deal(number), mirrored=mirrored)) as episode:
                move = episode.next_move()
                if move is not None:
                    question, shown = move.question, move.position.describe()
                    content.append(
                        [question.text, question.rules, list(question.candidates or ()), shown]
                    )
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()


def _as_decider(name: str, policies: Mapping[str, Policy], spec: PlaySpec) -> NamedDecider:
    """Return a program as a decider. The decider has a different seed in each epoch."""

    def make(_: object, settings: Settings) -> Decider:
        return PolicyDecider(name, policies[name], spec.seed + settings.epoch - 1)

    return NamedDecider(name, DeciderFactory(name, "", make, needs_model=False), spec.model)


def _find(name: str, factory: WorldFactory, spec: PlaySpec, objects: PassedObjects) -> NamedDecider:
    """Find a decider. Raise `CannotPlayError` if the name is neither a program nor a decider."""
    deciders = {*plugins.names("decider"), *objects.deciders}
    called = decider_of(name, objects)
    if called not in deciders:
        players = {*factory.policies, *deciders}
        unknown = UnknownNameError(f"player of {factory.name}", called, players)
        raise CannotPlayError(name, str(unknown))
    try:
        return named_decider(name, spec, objects, factory.policies)
    except PluginError as error:
        raise CannotPlayError(name, str(error)) from error


def _check_deciders(world: World, spec: PlaySpec, deciders: Mapping[str, Decider]) -> None:
    """Raise an error if a decider cannot play the games."""
    with closing(world.start(spec.deal(1))) as episode:
        move = episode.next_move()
        if move is None:
            raise UsageError(f"A game of {spec.world} ends before the first move.")
        for name, decider in deciders.items():
            try:
                check_decider(decider, move.question)
            except UsageError as error:
                raise CannotPlayError(name, str(error)) from error
