"""The settings of the deciders that ask a database in steps."""

from __future__ import annotations

from pydantic import Field

from dqa_ldm2.settings import Ldm2Settings


class QueriesSettings(Ldm2Settings):
    """What LDM2 on questions can be told."""

    retrieved: int = Field(
        default=20, ge=1, le=100, description="k, how many remembered tuples a prompt shows"
    )
    evaluate: bool = Field(
        default=False, description="whether completed subgoals are judged before each action"
    )
    statements: int = Field(
        default=10, ge=1, le=1_000, description="most statements of a decision process"
    )
    same_question: bool = Field(
        default=False,
        description="whether steps of the very question being asked are shown as well, as of a "
        "question that is asked every week; never in an evaluation",
    )


class RefinedQueriesSettings(QueriesSettings):
    """LDM2 on questions, with a memory that was refined."""

    memory: str = Field(
        default="memory-refined.db",
        min_length=1,
        description="file or URL of the memory that it reads",
    )
