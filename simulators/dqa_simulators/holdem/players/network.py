"""A small network in NumPy: to play needs nothing else, and to train it neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.players.features import Floats

_FIRST_MOMENT: Final = 0.9
_SECOND_MOMENT: Final = 0.999
_SMALL: Final = 1e-8


class Network:
    """Fully connected layers with rectifiers between them.

    Parameters
    ----------
    layers
        Of each layer the weights, of shape (inputs, outputs), and the biases.
    """

    def __init__(self, layers: Sequence[tuple[Floats, Floats]]) -> None:
        self.layers = tuple(layers)

    @classmethod
    def drawn(cls, sizes: Sequence[int], random: np.random.Generator) -> Network:
        """Return a network of such sizes, drawn as He et al. (2015), section 2.2, initialise."""
        return cls(
            [
                (
                    (random.normal(size=(a, b)) * np.sqrt(2 / a)).astype(np.float32),
                    np.zeros(b, dtype=np.float32),
                )
                for a, b in pairwise(sizes)
            ]
        )

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Network:
        """Return the network that `arrays` wrote."""
        count = len(arrays) // 2
        return cls(
            [
                (arrays[f"weights{n}"].astype(np.float32), arrays[f"biases{n}"].astype(np.float32))
                for n in range(count)
            ]
        )

    def copy(self) -> Network:
        """Return a network of the same weights, which stays when this one is fitted."""
        return Network([(weights.copy(), biases.copy()) for weights, biases in self.layers])

    def arrays(self) -> dict[str, Floats]:
        """Return weights and biases by name."""
        named: dict[str, Floats] = {}
        for n, (weights, biases) in enumerate(self.layers):
            named |= {f"weights{n}": weights, f"biases{n}": biases}
        return named

    def __call__(self, inputs: Floats) -> Floats:
        """Return the outputs of rows of inputs."""
        *hidden, (weights, biases) = self.layers
        for kernel, bias in hidden:
            inputs = np.maximum(inputs @ kernel + bias, 0)
        outputs: Floats = inputs @ weights + biases
        return outputs


class Adam:
    """Fits a network to targets, by Kingma and Ba, "Adam" (2015), algorithm 1.

    Parameters
    ----------
    network
        What is fitted, in place.
    rate
        The step size.
    """

    def __init__(self, network: Network, rate: float) -> None:
        self._network = network
        self.rate = rate
        self._steps = 0
        self._moments = [
            [(np.zeros_like(part), np.zeros_like(part)) for part in layer]
            for layer in network.layers
        ]

    def fit(self, inputs: Floats, targets: Floats, weights: Floats) -> float:
        """Take one step to less squared error, each output's times its weight; return that error.

        Parameters
        ----------
        inputs, targets, weights
            Rows of inputs, and of targets and weights by output.
        """
        held = [inputs]
        *hidden, last = self._network.layers
        for kernel, bias in hidden:
            held.append(np.maximum(held[-1] @ kernel + bias, 0))
        error = held[-1] @ last[0] + last[1] - targets
        back = (2 / len(inputs)) * weights * error
        self._steps += 1
        for number in reversed(range(len(self._network.layers))):
            kernel = self._network.layers[number][0]
            gradients = (held[number].T @ back, back.sum(axis=0))
            if number:
                back = (back @ kernel.T) * (held[number] > 0)
            self._step(number, gradients)
        return float((weights * error**2).sum() / len(inputs))

    def _step(self, number: int, gradients: tuple[Floats, Floats]) -> None:
        first_bias = 1 - _FIRST_MOMENT**self._steps
        second_bias = 1 - _SECOND_MOMENT**self._steps
        layer = self._network.layers[number]
        for part, gradient, (first, second) in zip(
            layer, gradients, self._moments[number], strict=True
        ):
            first[...] += (1 - _FIRST_MOMENT) * (gradient - first)
            second[...] += (1 - _SECOND_MOMENT) * (gradient**2 - second)
            scale = np.sqrt(second / second_bias) + _SMALL
            part[...] -= self.rate * (first / first_bias) / scale
