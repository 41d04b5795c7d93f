"""What a chat model is made of: the tools bound to it, the recorder before it, the model itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables.base import RunnableBindingBase

from dqa.models.recorded import RecordedModel

_Model = TypeVar("_Model", bound=BaseChatModel)


def layer_of(model: object, kind: type[_Model]) -> _Model | None:
    """Return the chat model of a kind beneath bound tools and a recorder; None where none is."""
    return next((layer for layer in layers(model) if isinstance(layer, kind)), None)


def layers(model: object) -> Iterator[object]:
    """Yield a model and what is beneath it: beneath bound tools, and beneath a recorder."""
    while model is not None:
        yield model
        if isinstance(model, RunnableBindingBase):
            model = model.bound
        else:
            model = model.inner if isinstance(model, RecordedModel) else None
