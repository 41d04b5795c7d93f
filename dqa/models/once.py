"""A reply that came before a pause: it is given again, and the model is not asked for it twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from pydantic import TypeAdapter

from dqa.core.journal import Journal
from dqa.models.faults import Fault

_FAULTS = TypeAdapter(list[Fault])


def reply_once(
    journal: Journal,
    messages: Sequence[BaseMessage],
    stop: Sequence[str],
    ask: Callable[[Callable[[Fault], object]], AIMessage],
    on_fault: Callable[[Fault], object],
) -> tuple[AIMessage, list[Fault] | None]:
    """Return the reply that came before the pause, or ask for it and keep it.

    Parameters
    ----------
    journal
        What is kept.
    messages, stop
        What the model is asked.
    ask
        Asks the model, and tells of faults.
    on_fault
        Is told of each fault, then and now.

    Returns
    -------
    tuple
        The reply; and the faults on the way to one that came before the pause, None for a new one.
    """
    fresh: list[Fault] = []
    is_new = False

    def act() -> dict[str, Any]:
        nonlocal is_new
        is_new = True

        def note(fault: Fault) -> None:
            fresh.append(fault)
            on_fault(fault)

        reply = message_to_dict(ask(note))
        return {"reply": reply, "faults": _FAULTS.dump_python(fresh, mode="json")}

    asked = [message_to_dict(message) for message in messages]
    came = journal.replay("reply", [asked, list(stop)], act)
    (reply,) = messages_from_dict([came["reply"]])
    if not isinstance(reply, AIMessage):
        raise AssertionError("a journal keeps the replies of models")  # noqa: TRY004  (a bug)
    if is_new:
        return reply, None
    faults = _FAULTS.validate_python(came["faults"])
    for fault in faults:
        on_fault(fault)
    return reply, faults
