"""The replay of the DeLLMa release's recorded answers; ``dqa dellma replay`` runs it."""

from .printing import show
from .replay import replay

__all__ = ["replay", "show"]
