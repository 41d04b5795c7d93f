"""The order of a picture's nodes in each layer, so that few edges cross."""

from __future__ import annotations

from dqa.core.pictures import Picture, PictureNode

_SWEEPS = 8
"""Sweeps over the layers; more change little (Sugiyama, Tagawa and Toda 1981)."""


def laid_out(picture: Picture) -> Picture:
    """Return the picture with its nodes in the order in which each layer shows them.

    Nodes move to the mean place of their neighbours (the barycentre), sweep by sweep, forth and
    back. Equal nodes keep their order, so the same picture is always drawn alike.
    """
    layers: dict[int, list[PictureNode]] = {}
    for node in picture.nodes:
        layers.setdefault(node.layer, []).append(node)
    neighbours: dict[str, list[str]] = {node.id: [] for node in picture.nodes}
    for edge in picture.edges:
        if edge.source != edge.target:
            neighbours[edge.source].append(edge.target)
            neighbours[edge.target].append(edge.source)
    places: dict[str, float] = {}

    def number(layer: list[PictureNode]) -> None:
        """Note where each node stands in its layer, from 0 to 1."""
        places.update((node.id, (n + 0.5) / len(layer)) for n, node in enumerate(layer))

    def barycentre(node: PictureNode) -> float:
        around = [places[other] for other in neighbours[node.id]] or [places[node.id]]
        return sum(around) / len(around)

    for layer in layers.values():
        number(layer)
    for sweep in range(_SWEEPS):
        for depth in sorted(layers, reverse=bool(sweep % 2)):
            layers[depth].sort(key=barycentre)
            number(layers[depth])
    nodes = tuple(node for depth in sorted(layers) for node in layers[depth])
    return picture.model_copy(update={"nodes": nodes})
