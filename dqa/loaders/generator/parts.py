"""Drawing a scenario's worlds in parts, which may be worked out at once.

A world depends on its number and on how many questions were asked before it, and no world has to
give as many as it is asked for. So parts are drawn as if each world gave as many as the largest
until now. A part that began with another number than it should have is thrown away and drawn again:
the result equals that of one generator, world by world.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from typing import NamedTuple

from dqa import plugins
from dqa.core.jobs import Mapper
from dqa.scenarios import registered, scenario_name
from dqa.scenarios.generation import Drawn, Request

_MOST = 8
"""Most worlds of a part, which may be drawn in vain."""


class _Part(NamedTuple):
    """Some worlds of a scenario: its name or its folder, and the request."""

    scenario: str
    request: Request
    worlds: int


def draw_worlds(scenario: str, request: Request, mapper: Mapper) -> Iterator[Drawn]:
    """Yield the worlds of a request; see `Generator.questions`.

    Deciders that are to be resisted are asked about one world after another, in this process.
    """
    if mapper.slots == 1 or request.resistance is not None:
        yield from plugins.generator(scenario).questions(plugins.scenario(scenario), request)
        return
    worlds = asked = each = 0
    while asked < request.count:
        begun = replace(
            request,
            count=request.count - asked,
            databases_before=request.databases_before + worlds,
            questions_before=request.questions_before + asked,
        )
        parts = tuple(_parts(scenario, begun, each, mapper.slots))
        for part, drawn in zip(parts, mapper.map(_draw, parts), strict=False):
            if part.request.questions_before != request.questions_before + asked:
                break  # a world before it gave fewer than was thought
            yield from drawn
            worlds += len(drawn)
            asked += sum(len(one.questions) for one in drawn)
            each = max(each, *(len(one.questions) for one in drawn))


def draw_like_release(
    scenarios: tuple[str, ...], seed: int, mapper: Mapper
) -> Iterator[list[Drawn]]:
    """Yield, by scenario, what its generator yields like the release."""
    return mapper.map(_draw_release, [(_told(name), seed) for name in scenarios])


def _parts(scenario: str, request: Request, each: int, slots: int) -> Iterator[_Part]:
    """Yield the parts of a request whose worlds give `each` questions; 0 if unknown."""
    if not each:
        yield _Part(_told(scenario), request, 1)
        return
    left = -(-request.count // each)
    size = max(1, min(_MOST, left // (4 * slots)))
    for number in count():
        before = number * size * each
        if before >= request.count:
            break
        begun = replace(
            request,
            count=request.count - before,
            databases_before=request.databases_before + number * size,
            questions_before=request.questions_before + before,
        )
        yield _Part(_told(scenario), begun, size)


def _draw(part: _Part) -> list[Drawn]:
    name = scenario_name(part.scenario)
    drawn = plugins.generator(name).questions(plugins.scenario(name), part.request)
    return list(islice(drawn, part.worlds))


def _draw_release(asked: tuple[str, int]) -> list[Drawn]:
    name = scenario_name(asked[0])
    return list(plugins.generator(name).questions_like_release(plugins.scenario(name), asked[1]))


def _told(scenario: str) -> str:
    return str(registered().get(scenario, scenario))
