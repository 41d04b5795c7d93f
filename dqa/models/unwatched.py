"""Calls of LangChain's chat models that nobody watches, without what watching costs.

LangChain tells callbacks of every call: those of the model, those of a chain or graph around it,
and tracers that are on for the process (LangSmith, debugging). Getting ready for that takes several
times as long as all else that is done for a reply, and threads that share an interpreter wait for
it. Where there is nobody to tell, a model is asked through the method below, in which LangChain has
its cache, rate limiter and streaming. What comes back is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, cast

from langchain_core.callbacks import (
    BaseCallbackHandler,
    BaseCallbackManager,
    CallbackManager,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.runnables.config import var_child_runnable_config

_DIRECT = "_generate_with_cache"
_PASSED = ("invoke", "generate_prompt", "generate", "_convert_input", _DIRECT)
"""The methods on the way of a call; a class that has its own of one is invoked as usual."""
_is_known: ContextVar[bool] = ContextVar("dqa_unwatched", default=False)

_FOR_TRACERS = frozenset({"ls_structured_output_format", "structured_output_format"})
"""Settings that `BaseChatModel.generate` takes out, for tracers."""


def is_watched(
    callbacks: list[BaseCallbackHandler] | BaseCallbackManager | None = None,
    *,
    verbose: bool = False,
) -> bool:
    """Whether LangChain would tell anybody of a call that is made here and now.

    Within a chain or graph it may, so it counts as such.

    Parameters
    ----------
    callbacks, verbose
        Those of the model or tool that is called.
    """
    if var_child_runnable_config.get() is not None:
        return True
    if _is_known.get() and not callbacks and not verbose:
        return False
    return bool(CallbackManager.configure(None, callbacks, verbose).handlers)


@contextmanager
def unwatched() -> Iterator[None]:
    """Take it for known, until the block ends, that nobody watches this context.

    For whoever has asked `is_watched` and makes many calls: it takes as long as some of them.
    """
    token = _is_known.set(True)
    try:
        yield
    finally:
        _is_known.reset(token)


def invoke_model(
    model: Runnable[LanguageModelInput, AIMessage],
    messages: Sequence[BaseMessage],
    stop: Sequence[str] | None = None,
) -> AIMessage:
    """Return what a model's `invoke` returns, without LangChain's callbacks where none are set.

    Parameters
    ----------
    model
        A chat model, with tools bound to it or not.
    messages
        The conversation.
    stop
        Sequences that end the reply, for models that honour them.
    """
    asked, ends = list(messages), None if stop is None else list(stop)
    chat, settings = _unbound(model, {"stop": ends})
    if (
        not isinstance(chat, BaseChatModel)
        or not _is_usual(type(chat))
        or not _FOR_TRACERS.isdisjoint(settings)
        or not all(isinstance(message.content, str) for message in asked)  # others are converted
        or is_watched(chat.callbacks, verbose=chat.verbose)
    ):
        return model.invoke(asked, stop=ends)
    result = getattr(chat, _DIRECT)(
        asked, run_manager=CallbackManagerForLLMRun.get_noop_manager(), **settings
    )
    return cast("AIMessage", result.generations[0].message)


def _unbound(model: object, settings: Mapping[str, Any]) -> tuple[object, Mapping[str, Any]]:
    """Return what is beneath bound settings, and all of these with those of the call.

    A binding that configures runs is returned as it is.
    """
    while isinstance(model, RunnableBinding):
        if model.config or model.config_factories:
            break
        settings = {**model.kwargs, **settings}
        model = model.bound
    return model, settings


@lru_cache(maxsize=64)
def _is_usual(kind: type[BaseChatModel]) -> bool:
    """Whether a class is invoked as LangChain's own, in the version that is installed."""
    return all(getattr(kind, name, None) is getattr(BaseChatModel, name, kind) for name in _PASSED)
