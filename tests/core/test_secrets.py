"""Removal of secrets from texts."""

from __future__ import annotations

import pytest

from dqa.core.secrets import redact, redacted


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("mysql+pymysql://root:hunter2@127.0.0.1/x", "mysql+pymysql://root:***@127.0.0.1/x"),
        ("postgresql://u:p@ss/w?r#d@h:5432/x", "postgresql://u:***@h:5432/x"),
        ("postgresql://me@cloud:hush@h/x, y://a:b@c", "postgresql://me@cloud:***@h/x, y://a:***@c"),
        ("postgresql://u:12345@h", "postgresql://u:***@h"),
        ('["http://h:80","a@b"]', '["http://h:80","a@b"]'),
        ('["http://h","key: a:b@c"]', '["http://h","key: a:b@c"]'),
        ("http://h:8080/users/@me", "http://h:8080/users/@me"),
        ("neo4j://u:p%40ss@h and http://a:b@c", "neo4j://u:***@h and http://a:***@c"),
        ("Incorrect API key: sk-abc123def456ghi.", "Incorrect API key: ***."),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("got 'Basic dXNlcjpwYTU1d29yZA=='", "got 'Basic ***'"),
        ("got Basic dXNlcjpwYTU1d29yZA, sorry", "got Basic ***, sorry"),
        ("Basic principles of arithmetics", "Basic principles of arithmetics"),
        ("http://h/v1?api_key=hush123&n=1", "http://h/v1?api_key=***&n=1"),
        ("http://h/v1?n=1&X-Amz-Signature=abc#top", "http://h/v1?n=1&X-Amz-Signature=***#top"),
        ("https://h?access_token=a.b-c is refused", "https://h?access_token=*** is refused"),
        ("http://h?monkey=1&keyword=tea", "http://h?monkey=1&keyword=tea"),
    ],
)
def test_passwords_and_keys_are_masked(text: str, clean: str) -> None:
    """URLs keep their user and host. Keys are removed."""
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "://a:" * 200_000,
        "sk-" * 100_000,
        "?" + "a-" * 300_000,
        "&a-a" * 200_000,
        "Basic " * 100_000,
    ],
)
def test_redaction_takes_linear_time(text: str) -> None:
    """The time is linear in the length of a text."""
    assert redact(text) == text


def test_the_value_of_a_secret_variable_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The form of the key does not matter."""
    monkeypatch.setenv("SOME_API_KEY", "xyzzy-plugh-42")
    assert redact("rejected xyzzy-plugh-42") == "rejected ***"


def test_secrets_are_removed_from_every_text_of_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that contains another secret is removed completely."""
    monkeypatch.setenv("A_TOKEN", "hush-hush")
    monkeypatch.setenv("B_TOKEN", "hush-hush-tail")
    value = {"a": ["Bearer abc", 1.5, None, {"b": ("x hush-hush-tail",)}], "Bearer": True}
    clean = {"a": ["Bearer ***", 1.5, None, {"b": ["x ***"]}], "Bearer": True}
    assert redacted(value) == clean
