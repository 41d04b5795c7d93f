"""Where the nodes of a picture stand: an order for each layer in which few edges cross."""

from __future__ import annotations

from collections.abc import Mapping

from dqa.core.pictures import Picture, PictureNode

_SWEEPS = 8
"""Sweeps over the layers; more change little (Sugiyama, Tagawa and Toda 1981)."""


def laid_out(picture: Picture) -> Picture:
    """Return the picture with its nodes in the order in which each layer shows them.

    Nodes move to the mean place of their neighbours (the barycentre), sweep by sweep, forth and
    back; the sweep with the fewest crossings counts. Equal nodes keep their order, so the same
    picture is always drawn alike.
    """
    layers: dict[int, list[PictureNode]] = {}
    for node in picture.nodes:
        layers.setdefault(node.layer, []).append(node)
    beside: dict[str, list[str]] = {node.id: [] for node in picture.nodes}
    for edge in picture.edges:
        beside[edge.source].append(edge.target)
        beside[edge.target].append(edge.source)
    best, fewest = _ordered(layers), _crossings(picture, layers)
    for sweep in range(_SWEEPS):
        for depth in sorted(layers, reverse=bool(sweep % 2)):
            at = _places(layers)
            layers[depth].sort(key=lambda node, at=at: _barycentre(node, beside, at))  # type: ignore[misc]
        crossings = _crossings(picture, layers)
        if crossings < fewest:
            best, fewest = _ordered(layers), crossings
    return picture.model_copy(update={"nodes": best})


def _ordered(layers: Mapping[int, list[PictureNode]]) -> tuple[PictureNode, ...]:
    return tuple(node for depth in sorted(layers) for node in layers[depth])


def _places(layers: Mapping[int, list[PictureNode]]) -> dict[str, float]:
    """Return where each node stands in its layer, from 0 to 1."""
    return {
        node.id: (place + 0.5) / len(nodes)
        for nodes in layers.values()
        for place, node in enumerate(nodes)
    }


def _barycentre(
    node: PictureNode, beside: Mapping[str, list[str]], at: Mapping[str, float]
) -> float:
    neighbours = [at[other] for other in beside[node.id] if other != node.id]
    return sum(neighbours) / len(neighbours) if neighbours else at[node.id]


def _crossings(picture: Picture, layers: Mapping[int, list[PictureNode]]) -> int:
    """Count the pairs of edges between the same two layers that cross."""
    at = _places(layers)
    layer = {node.id: node.layer for node in picture.nodes}
    groups: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for edge in picture.edges:
        ends = sorted((edge.source, edge.target), key=lambda one: layer[one])
        groups.setdefault((layer[ends[0]], layer[ends[1]]), []).append((at[ends[0]], at[ends[1]]))
    return sum(
        (a - c) * (b - d) < 0.0
        for pairs in groups.values()
        for place, (a, b) in enumerate(pairs)
        for c, d in pairs[:place]
    )
