"""Replies that send elsewhere, where neither a key nor a question is to go."""

from http.server import BaseHTTPRequestHandler

import pytest

from dqa.core.errors import ModelUnavailableError, UsageError
from dqa.models.reaching import check_reachable
from tests.models.conftest import Hours
from tests.models.listening import (
    asked,
    asking,
    completion,
    listening,
    send,
)
from tests.models.served import KEY


@pytest.mark.parametrize("status", [302, 307])
def test_nothing_is_sent_to_another_host(status: int, hours: Hours) -> None:
    """Neither a key nor a question; nor to another port, where somebody else may listen."""
    came: list[str] = []
    with listening(lambda h: came.append(h.path)) as other:
        for elsewhere in (other, other.replace("127.0.0.1", "localhost")):
            with listening(lambda h, to=elsewhere: send(h, b"", status, Location=to)) as url:  # type: ignore[misc]
                with pytest.raises(UsageError) as told:
                    asked(asking(url), hours)
                with pytest.raises(UsageError):
                    check_reachable("m", asking(url))
            assert elsewhere.removesuffix("/v1") in str(told.value)
            assert "nothing was sent there" in str(told.value)
            assert "--base-url" in str(told.value)
            assert KEY not in str(told.value)
    assert came == []
    assert hours.slept == [], "asking again would not help"


def test_a_redirect_at_the_same_host_is_followed(hours: Hours) -> None:
    """As from one path to another; TLS may be asked for, and not be left."""
    keys: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path.startswith("/v2"):
            keys.append(handler.headers["authorization"])
            send(handler, completion({"content": "Ghent"}))
        else:
            send(handler, b"", 307, Location="/v2" + handler.path)

    with listening(answer) as url:
        assert asked(asking(url), hours)[0].reply.text == "Ghent"
    assert keys == [f"Bearer {KEY}"]
    # Nobody speaks TLS there, so it is tried, and that is all that can be seen of it.
    with (
        listening(lambda h: send(h, b"", 308, Location=f"https://{h.headers['host']}/v1")) as url,
        pytest.raises(ModelUnavailableError, match="TLS"),
    ):
        asked(asking(url), hours)
