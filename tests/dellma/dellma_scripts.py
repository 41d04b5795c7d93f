"""Write a small release in DeLLMa's layout."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

STATISTICS = "Commodity,Yield,Price per Unit\nfig,{},10 $ / CWT\nkiwi,20 CWT / ACRE,10 $ / CWT\n"


def write(file: Path, text: str) -> Path:
    """Write a file and create its folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def write_tables(folder: Path, fig: str = '"1,000 LB / ACRE"') -> None:
    """Write the report and statistics: an acre of figs earns 100 dollars, an acre of kiwis 200."""
    crop = {"summary": "s", "yield": "1,000 LB / ACRE", "price": "10 $ / CWT"}
    report = {"summary": "all", "fig": crop, "kiwi": crop, "factors": ["weather"]}
    write(folder / "data/agriculture/reports/summary/fruit-sept-2021.json", json.dumps(report))
    for year in (2021, 2022):
        write(folder / f"data/agriculture/stats/CA-{year}.csv", STATISTICS.format(fig))


def prompt(actions: Sequence[str]) -> str:
    """Return a prompt that lists pairs of these actions."""
    return "Below are pairs.\n" + "\n".join(
        f"- State-Action Pair {number}."
        f" State: sky, or air: clear, {action} price change: no change;"
        f" Action {1 if action == 'fig' else 2}. {action}: 10 acres\n"
        for number, action in enumerate(actions, 1)
    )


def write_decision(
    folder: Path, mode: str, reply: str, choice: str = "fig-kiwi", dataset: str = "agriculture/2021"
) -> Path:
    """Write the answer of a mode that decides in words."""
    question = folder / "results" / dataset / mode / choice
    write(question / "prompt/prompt_0.txt", "Choose.")
    return write(question / "response/response_0.json", reply)


def write_rankings(
    folder: Path,
    batches: Sequence[tuple[Sequence[str], Mapping[str, object] | str | None]],
    setting: str = "sample_size=4_minibatch_size=4_overlap_pct=50",
) -> Path:
    """Write the minibatches of one question with their answers; None writes no answer."""
    question = folder / "results/agriculture/2021/dellma/rank-minibatch" / setting / "FIG-kiwi"
    for number, (actions, reply) in enumerate(batches):
        write(question / f"prompt/prompt_{number}.txt", prompt(actions))
        if reply is not None:
            text = reply if isinstance(reply, str) else json.dumps(reply)
            write(question / f"response/response_{number}.json", text)
    return question
