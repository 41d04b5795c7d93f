"""What observations cost in tokens: every digit and every candidate, against what is shown usually.

Run ``python -m benchmarks.observation_tokens --release DIR`` (``--questions N`` of each scenario).
The scripted analyst decides the same questions under both displays. "before" shows every digit that
a number has and a row for each candidate of a comparison; "after" is the default. Tokens are those
of LangChain's `count_tokens_approximately`, four characters each: tokenizers of models split digits
finer, so the share that is saved is rather larger there.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from langchain_core.messages import HumanMessage
from langchain_core.messages.utils import count_tokens_approximately

from dqa import plugins
from dqa.core.database import Database
from dqa.core.display import Display
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.loaders.release import read_release
from dqa.models.scripted import scripted_model

SCENARIOS = ("locating", "building")
DECIDERS = ("iterrag", "planrag", "planrag-sim")
DISPLAYS = {"before": Display(digits=0, fold=False), "after": Display()}


def main() -> None:
    """Print characters and tokens of all observations, and how many decisions were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, required=True, help="folder of the DQA release")
    parser.add_argument("--questions", type=int, default=20, help="of each scenario")
    parser.add_argument("--backend", default="sqlite", help="an embedded database")
    given = parser.parse_args()
    released = read_release(given.release)
    print(
        f"{'decider':12} {'scenario':9} {'display':7} {'characters':>10} {'tokens':>8}        right"
    )
    for scenario in SCENARIOS:
        chosen = released.select((scenario,), given.questions)
        opened = {
            name: plugins.backend(given.backend).load(chosen.situations[name])
            for name in sorted({question.situation for question in chosen.questions})
        }
        for decider in DECIDERS:
            base = 0
            for called, display in DISPLAYS.items():
                texts, right = observe_all(decider, chosen, opened, display)
                tokens = count_tokens_approximately([HumanMessage(text) for text in texts])
                base = base or tokens
                print(
                    f"{decider:12} {scenario:9} {called:7} {sum(map(len, texts)):10,} {tokens:8,} "
                    f"{tokens / base:5.0%} {right}/{len(chosen.questions)}"
                )
        for database in opened.values():
            database.close()


def observe_all(
    decider: str, chosen: QuestionSet, opened: Mapping[str, Database], display: Display
) -> tuple[list[str], int]:
    """Decide all questions; return what the model was shown, and how many it got right."""
    made = plugins.decider(decider)(scripted_model("analyst"), Settings(display=display))
    texts, right = [], 0
    for question in chosen.questions:
        decision = made.decide(question, opened[question.situation])
        texts += [evidence.observation for evidence in decision.evidence]
        right += decision.choice in chosen.truth_of(question).answers
    return texts, right


if __name__ == "__main__":
    main()
