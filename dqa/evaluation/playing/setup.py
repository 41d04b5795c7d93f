"""From a spec to games that can be played: the world made, contestants found, models connected."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.decider import Decider
from dqa.core.decision import Usage
from dqa.core.errors import UnknownNameError, UsageError
from dqa.deciders.base import DeciderFactory
from dqa.deciders.settings import read_settings
from dqa.evaluation.connecting import Connected, connect
from dqa.evaluation.options import CallOptions
from dqa.evaluation.playing.plan import Game, plan_games
from dqa.evaluation.playing.spec import PlaySpec, decider_of
from dqa.evaluation.results import NO_MODEL
from dqa.worlds.base import Policy, PolicyDecider, WorldFactory
from dqa.worlds.history import History
from dqa.worlds.training import hash_weights, learn
from dqa.worlds.world import World

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

MOST_HASHED = 25
"""Deals whose beginnings tell whether a world is still the one that a run began with."""
_TWO = 2


@dataclass(frozen=True, slots=True)
class GameSetup:
    """Everything that the games of a run need.

    Attributes
    ----------
    spec
        What is played.
    factory
        Makes the world.
    players
        What the world calls the player and the opponent, or the only player.
    games
        In the order of the plan.
    epochs
        By epoch, who decides, by contestant.
    models
        By contestant, the name of what answers behind it, or `NO_MODEL`.
    reference
        Whom players are compared with; None for nobody.
    connected
        The models; None where nobody asks one.
    content_hash
        Of how the games begin.
    weights
        Of each program that has learnt, the hash of what was learnt.
    database, kind
        What histories are, for results; see `with_history`.
    warnings
        What the user should know before they begin.
    """

    spec: PlaySpec
    factory: WorldFactory
    players: tuple[str, ...]
    games: tuple[Game, ...]
    epochs: tuple[Mapping[str, Decider], ...]
    models: Mapping[str, str]
    reference: Policy | None
    connected: Connected | None
    content_hash: str
    weights: Mapping[str, str]
    database: str = "sqlite"
    kind: Kind = "relational"
    warnings: tuple[str, ...] = field(default=())

    def with_history(self, location: str) -> GameSetup:
        """Return the setup of games whose history is at a location: a file, or a URL."""
        backend = plugins.backend_for(location) if "://" in location else plugins.backend("sqlite")
        return replace(self, database=backend.name, kind=backend.kind)

    def world(self, history: History | None) -> World:
        """Make the world, whose games are written into a history."""
        return make_world(self.factory, self.spec, history)

    def model_of(self, game: Game) -> str:
        """Return what answers in a game: several models joined by ``+``, or none."""
        named = (name for name in (game.player, game.opponent) if name)
        asked = dict.fromkeys(self.models[name] for name in named)
        return " + ".join(name for name in asked if name != NO_MODEL) or NO_MODEL


def build_games(
    spec: PlaySpec,
    *,
    calls: CallOptions,
    resumed: Callable[[], Usage] | None = None,
    given: Mapping[str, Decider | DeciderFactory] | None = None,
    chats: Mapping[str, BaseChatModel] | None = None,
) -> GameSetup:
    """Look every name up, connect the models and make the players.

    Parameters
    ----------
    spec
        What is played.
    calls
        How models are called.
    resumed
        Of a run that goes on, what returns its spending outside of this process.
    given
        Deciders that no entry point names, by name.
    chats
        Chat models that no provider's name makes, by name.

    Raises
    ------
    UsageError
        A contestant is neither a program of the world nor a decider, an opponent is missing or too
        many, or a setting does not fit.
    """
    factory = plugins.world(spec.world)
    world = make_world(factory, spec, None)
    _check_sides(world, spec)
    known = dict(given or {})
    asked = [name for name in spec.contestants if not _is_program(factory, name, known)]
    _require_known(factory, asked, known)
    connected, labels = _connected(spec, asked, calls, resumed, known, chats or {})
    weights: dict[str, str] = {}
    policies = {
        name: _make_policy(factory, name, spec.seed, weights)
        for name in spec.contestants
        if name not in asked
    }
    reference = None
    if spec.reference is not None:
        if spec.reference not in factory.policies:
            kind = f"program that plays {spec.world}, to be a reference (--reference),"
            raise UnknownNameError(kind, spec.reference, factory.policies)
        reference = policies.get(spec.reference) or _make_policy(
            factory, spec.reference, spec.seed, weights
        )
    models = dict.fromkeys(policies, NO_MODEL)
    epochs: list[Mapping[str, Decider]] = [
        {name: PolicyDecider(name, made, spec.seed + epoch) for name, made in policies.items()}
        for epoch in range(spec.epochs)
    ]
    warnings: tuple[str, ...] = ()
    if connected is not None:
        made = connected.deciders(spec.rule_set)
        warnings = made.warnings
        models |= {name: made.models[label] for name, label in labels.items()}
        for number, by_name in enumerate((made.by_name, *made.repeats)):
            found = {name: by_name[label] for name, label in labels.items()}
            epochs[number] = {**epochs[number], **found}
    _check(world, spec, epochs[0])
    return GameSetup(
        *(spec, factory, world.players, plan_games(spec), tuple(epochs)),
        *(models, reference, connected),
        content_hash=hash_beginnings(world, spec),
        weights=weights,
        warnings=warnings,
    )


def _check_sides(world: World, spec: PlaySpec) -> None:
    """Raise `UsageError` where the pairs are not those of the world's players."""
    many = len(world.players)
    if many > _TWO:
        raise UsageError(
            f"{spec.world} has {many} players, and a run of games pairs a player with an opponent "
            "at most: name a world of one or two."
        )
    if many == _TWO and spec.alone:
        raise UsageError(
            f"{spec.world} is played by two: say against whom as well (opponents, --opponent)."
        )
    if many == 1 and not spec.alone:
        raise UsageError(
            f"{spec.world} has one player, who has no opponent: leave out opponents (--opponent, "
            "--opponents)."
        )
    if many == 1 and spec.mirror:
        raise UsageError(
            f"{spec.world} has one player, so no hidden things can be swapped: leave out mirror "
            "(--mirror)."
        )


def _make_policy(factory: WorldFactory, name: str, seed: int, weights: dict[str, str]) -> Policy:
    """Make a program, and add the hash of what it has learnt, if it learns."""
    made = factory.policies[name]
    if made.trainer is None:
        return made.make(seed)
    learnt = learn(made.trainer, seed).weights
    weights[name] = hash_weights(learnt)
    return made.trainer.play(learnt)


def make_world(factory: WorldFactory, spec: PlaySpec, history: History | None) -> World:
    """Make the world of a spec.

    Raises
    ------
    UsageError
        The world has no such setting, or it does not accept the value.
    """
    fields = factory.settings.model_fields
    for name in spec.world_settings:
        if name not in fields:
            kind, known = f"setting of the world '{factory.name}'", list(fields)
            raise UnknownNameError(kind, f"{factory.name}.{name}", known)
    names = {name: f"{factory.name}.{name}" for name in fields}
    settings = read_settings(factory.settings, spec.world_settings, names, factory.name)
    return factory.make(settings, history)


def hash_beginnings(world: World, spec: PlaySpec) -> str:
    """Return the hash of how the first deals begin, for whoever moves first.

    A world that changed since a run began, or deals otherwise, has another one.
    """
    told: list[object] = [spec.world, sorted(spec.world_settings.items())]
    mirrors = (False, True) if spec.mirror else (False,)
    for number in range(1, min(spec.games, MOST_HASHED) + 1):
        for mirrored in mirrors:
            episode = world.start(spec.deal(number), mirrored=mirrored)
            try:
                move = episode.next_move()
                if move is not None:
                    asked = move.question
                    shown = move.position.describe()
                    told.append([asked.text, asked.rules, list(asked.candidates or ()), shown])
            finally:
                episode.close()
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode("ascii")).hexdigest()


def _is_program(factory: WorldFactory, name: str, known: Mapping[str, object]) -> bool:
    """Whether a contestant is one of the world's own programs, which go before deciders."""
    return name in factory.policies and name not in known


def _require_known(
    factory: WorldFactory, asked: Sequence[str], known: Mapping[str, object]
) -> None:
    """Raise where a contestant is nobody's name: neither a program's nor a decider's."""
    deciders = plugins.names("decider")
    for name in asked:
        if decider_of(name) not in {*deciders, *known}:
            own = [*factory.policies, *known]
            close = get_close_matches(decider_of(name), [*own, *deciders], n=1)
            raise UsageError(
                f"There is no player of {factory.name} '{name}'. Programs that play it: "
                f"{', '.join(own) or 'none'}; deciders play it, too ('dqa list' names them)."
                f"{f' Did you mean {close[0]!r}?' if close else ''}"
            )


def _connected(  # noqa: PLR0913, PLR0917  (each is a question of its own to the caller)
    spec: PlaySpec,
    asked: Sequence[str],
    calls: CallOptions,
    resumed: Callable[[], Usage] | None,
    given: Mapping[str, Decider | DeciderFactory],
    chats: Mapping[str, BaseChatModel],
) -> tuple[Connected | None, Mapping[str, str]]:
    """Connect the models of the contestants that are deciders.

    Returns
    -------
    tuple
        The models, None where there is no decider; and by contestant what its decider is called
        there.
    """
    if not asked:
        if spec.decider_settings:
            first = next(iter(spec.decider_settings))
            raise UsageError(
                f"{first} (--set) sets neither the world {spec.world}, whose settings are written "
                f"{spec.world}.NAME, nor anybody who plays."
            )
        return None, {}
    models = tuple(dict.fromkeys(spec.model_of(name) for name in asked))
    deciding = spec.changed(model=models[0], settings=spec.decider_settings)
    names = tuple(dict.fromkeys(map(decider_of, asked)))
    used = {name: made for name, made in given.items() if name in names}
    connected = connect(
        *(deciding, names, calls),
        models=models,
        epochs=spec.epochs,
        resumed=resumed,
        given=used,
        chats=chats,
    )
    labels = {}
    for name in asked:
        several = f"{decider_of(name)}@{spec.model_of(name).called}"
        labels[name] = several if several in connected.models else decider_of(name)
    return connected, labels


def _check(world: World, spec: PlaySpec, deciders: Mapping[str, Decider]) -> None:
    """Let deciders refuse what they could never decide, before anything is played."""
    episode = world.start(spec.deal(1))
    try:
        move = episode.next_move()
        if move is None:
            raise UsageError(f"A game of {spec.world} ends before anybody moves.")
        for name, decider in deciders.items():
            if "candidate" not in decider.answer_forms:
                raise UsageError(
                    f"'{name}' answers with statements, and a move is a candidate: name another."
                )
            decider.check(replace(move.question))
    finally:
        episode.close()
