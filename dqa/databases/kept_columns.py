"""What columns of kept databases are, in whatever SQL: texts, bytes and numbers of any length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BigInteger, Integer, LargeBinary, Text
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT
from sqlalchemy.types import TypeEngine

OPTIONS: Mapping[str, Any] = {
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "mysql_engine": "InnoDB",
}
"""Of every table: names that differ in case alone are two."""


def text() -> TypeEngine[str]:
    """Return the type of a text of any length."""
    return Text().with_variant(LONGTEXT(), "mysql", "mariadb")


def blob() -> TypeEngine[bytes]:
    """Return the type of bytes of any length."""
    return LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")


def number() -> TypeEngine[int]:
    """Return the type of a number that the database gives out."""
    return BigInteger().with_variant(Integer(), "sqlite")
