"""Operations on the two indices: cluster and index, of goals and of observations (Table 4)."""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.errors import UnparsableReplyError
from dqa.models.conversation import Conversation
from dqa_ldm2.events import IndexedEvent, Kind
from dqa_ldm2.likeness import nearest_type
from dqa_ldm2.memory.base import MemoryType
from dqa_ldm2.prompting import cut, prompt
from dqa_ldm2.replies import Clusters, ask_for_most, read_clusters, read_number

_LONGEST = 1_500
"""Most characters of a text that is sorted, or looked up."""
_EXAMPLES, _EXAMPLE = 3, 400
"""Most examples of a type, and most characters of each."""


def cluster(
    kind: Kind, texts: Sequence[str], known: Sequence[str], conversation: Conversation
) -> Clusters:
    """Return the types of goals (equation 7) or of observations (equation 8).

    Parameters
    ----------
    kind
        What they are.
    texts
        As many as one prompt holds.
    known
        Types that were named before, and are to be used where they fit.
    conversation
        What is asked in.

    Returns
    -------
    Clusters
        With numbers from 1, and those that no reply gave a type.

    Raises
    ------
    UnparsableReplyError
        No reply sorts anything.
    """
    text = prompt(
        "cluster", kind=kind, texts=[cut(one, _LONGEST) for one in texts], known=list(known)
    )
    return ask_for_most(
        conversation, text, lambda reply: read_clusters(reply, len(texts)), f"types of {kind}s"
    )


def find_type(
    kind: Kind,
    text: str,
    types: Sequence[MemoryType],
    conversation: Conversation | None,
    batch: int = 0,
) -> IndexedEvent:
    """Return which type a new text belongs to.

    Nothing is asked where there is one type, or where the text is known exactly. Where no reply can
    be used, it is the type nearest by its words: what is retrieved from another one is worse than
    what the right one has, and better than nothing.

    Parameters
    ----------
    kind
        Whether it is a goal or an observation.
    text
        What is looked up.
    types
        Those of the index.
    conversation
        What is asked in; None to ask nobody and go by words.
    batch
        Of which batch memory the index is, for the trace.
    """
    if not types:
        return IndexedEvent(of=kind, type="", batch=batch, how="known")
    exact = [one.name for one in types if text in (one.name, *one.examples)]
    if len(types) == 1 or len(exact) == 1:
        found = exact[0] if exact else types[0].name
        return IndexedEvent(of=kind, type=found, batch=batch, how="known")
    if conversation is None:
        return IndexedEvent(of=kind, type=nearest_type(text, types), batch=batch, how="nearest")
    shown = [
        {"name": one.name, "examples": [cut(e, _EXAMPLE) for e in one.examples[:_EXAMPLES]]}
        for one in types
    ]
    asked = prompt("index", kind=kind, types=shown, text=cut(text, _LONGEST))
    try:
        number = conversation.ask(
            asked, lambda reply: read_number(reply, "type", len(types)), f"{kind} type"
        )
    except UnparsableReplyError:
        return IndexedEvent(of=kind, type=nearest_type(text, types), batch=batch, how="unusable")
    return IndexedEvent(of=kind, type=types[number - 1].name, batch=batch, how="asked")
