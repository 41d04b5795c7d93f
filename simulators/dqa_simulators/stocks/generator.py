"""Generate Stocks worlds: price changes have the same distribution in past and future months."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqa.core.situation import Situation
from dqa.loaders.generator.names import stems
from dqa_simulators.sampling import situation_of
from dqa_simulators.uncertain import UncertainGenerator, UncertainWorld, draw_factors

STOCKS = 7
"""The number of stocks in a world, as in the paper."""

_SINCE, _BUY, _SELL = date(2028, 12, 1), date(2030, 12, 2), date(2030, 12, 31)
_FACTORS = (
    ("interest rates", ("falling", "steady", "rising")),
    ("spending of households", ("falling", "steady", "rising")),
    ("regulation", ("looser", "as it is", "tighter")),
)
_ABOUT = (
    "In each month chance decides for every stock by which number its price is multiplied, from "
    "the last price of the month before to the last price of the month. The months are independent "
    "of one another, and a stock's numbers are equally likely in all of them, the month of the "
    "sale included: so the past months are a sample of what may come. Within a month the price "
    "goes evenly from one end to the other, but for noise that says nothing of the future."
)
_STEPS = (0.94, 0.97, 1.0, 1.03, 1.06)
_NOISE = 0.004  # standard deviation of a day's price, as a share of the price
_SPREAD = 0.003  # distance of a day's high and low from its opening and closing price, as a share

_Floats = NDArray[np.float64]


def build_stocks(rng: np.random.Generator, name: str) -> tuple[UncertainWorld, Situation]:
    """Draw a world, and its prices up to the day before the purchase.

    In every month the value of each factor is drawn independently with its true probability. The
    effects of the values multiply a stock's price. Past and future changes therefore have the
    same distribution: the mean of past monthly changes estimates the expected change.

    Parameters
    ----------
    rng
        The source of all random choices.
    name
        Name of the situation.

    Returns
    -------
    tuple
        The world and the situation before the purchase. A utility is the selling price divided by
        the buying price.
    """
    words = sorted(stems(rng, STOCKS).tolist())
    symbols = tuple(word.upper() for word in words)
    factors = draw_factors(rng, _FACTORS, STOCKS, ("price",), _STEPS)
    world = UncertainWorld(symbols, np.ones(STOCKS), factors)
    every = (_SINCE + timedelta(days=number) for number in range((_BUY - _SINCE).days))
    days = [day for day in every if day.weekday() < 5]
    months = sorted({(day.year, day.month) for day in days})
    monthly = world.utilities(world.sample(len(months), rng))
    start = np.round(rng.uniform(20.0, 400.0, STOCKS), 2)
    closes = _closes(rng, days, start, monthly)
    world.sample(1, rng)  # The result is unused. Without this draw, seeds would give other worlds.
    return world, _situation(name, words, days, _quotes(rng, start, closes))


def stocks_target(situation: Situation) -> Mapping[str, str]:
    """Return the target values that all questions about a world share."""
    return {"since": str(_SINCE), "buy": str(_BUY), "sell": str(_SELL), "world": situation.name}


def _closes(
    rng: np.random.Generator, days: list[date], start: _Floats, monthly: _Floats
) -> _Floats:
    """Return closing prices, shape (days, stocks).

    The last price of a month is the last price of the previous month, multiplied by the monthly
    change.
    """
    closes = []
    last = start
    month_of = [(day.year, day.month) for day in days]
    for change, month in zip(monthly, dict.fromkeys(month_of), strict=True):
        count = month_of.count(month)
        way = (np.arange(1, count + 1) / count)[:, None]
        noise = 1.0 + _NOISE * rng.standard_normal((count, len(start)))
        noise[-1] = 1.0
        closes.append(last * (1.0 + (change - 1.0) * way) * noise)
        last = last * change
    return np.asarray(np.round(np.concatenate(closes), 2))


def _quotes(
    rng: np.random.Generator, start: _Floats, closes: _Floats
) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
    """Return the columns of the quotes, ordered by stock and day; shape (stocks * days,)."""
    opens = np.concatenate([start[None, :], closes[:-1]])
    columns: dict[str, NDArray[np.float64] | NDArray[np.int64]] = {
        "open_price": opens,
        "high_price": np.round(np.maximum(opens, closes) * (1.0 + _SPREAD), 2),
        "low_price": np.round(np.minimum(opens, closes) * (1.0 - _SPREAD), 2),
        "close_price": closes,
        "volume": rng.integers(100_000, 5_000_000, closes.shape),
    }
    return {column: values.T.ravel() for column, values in columns.items()}


def _situation(
    name: str,
    words: list[str],
    days: list[date],
    quotes: dict[str, NDArray[np.float64] | NDArray[np.int64]],
) -> Situation:
    symbols, dates = [word.upper() for word in words], [day.isoformat() for day in days]
    last = len(days) - 1
    stock = {
        "symbol": symbols,
        "name": [f"{word.capitalize()} Group" for word in words],
        # The purchase day opens at the last closing price.
        "buying_price": quotes["close_price"].reshape(-1, len(days))[:, last],
    }
    quote = {
        "symbol": [symbol for symbol in symbols for _ in dates],
        "date": dates * len(symbols),
        **quotes,
    }
    columns: dict[str, dict[str, Any]] = {
        "market": {"name": [name], "about": [_ABOUT]},
        "stock": stock,
        "trading_day": {"date": dates},
        "quote": quote,
    }
    return situation_of("stocks", name, columns)


GENERATOR = UncertainGenerator(
    scenario="stocks",
    build=build_stocks,
    target=stocks_target,
    listed="symbols",
    name="market{number}",
    stake=1.0,
)
