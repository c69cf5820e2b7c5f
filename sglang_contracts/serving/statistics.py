"""Robust statistics of latencies and memory: medians, slopes with their confidence, steps.

Means are never used: one garbage collection, or a neighbour on the same CPU, would move them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

MOST_PAIRS = 400
"""Points from which a slope is taken: more are thinned, for the pairs are their square."""


@dataclass(frozen=True)
class Slope:
    """A slope with its confidence interval.

    Attributes:
        value: The median of the slopes of all pairs of points (Theil and Sen).
        low: Lower end of the interval.
        high: Upper end.
        confidence: That the interval holds the true slope, such as 0.99.
    """

    value: float
    low: float
    high: float
    confidence: float


def slope(x: Sequence[float], y: Sequence[float], confidence: float = 0.99) -> Slope | None:
    """The robust slope of ``y`` over ``x``; None for fewer than eight points.

    The interval is Sen's (1968): the ranks of the pairs' slopes by the variance of Kendall's tau.
    """
    if len(x) < 8:
        return None
    step = -(-len(x) // MOST_PAIRS)
    points = list(zip(x, y, strict=True))[::step]
    slopes = sorted(
        (b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.combinations(points, 2) if b[0] != a[0]
    )
    if not slopes:
        return None
    n = len(points)
    spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    wide = NormalDist().inv_cdf(0.5 + confidence / 2) * spread
    low = max(0, int((len(slopes) - wide) / 2))
    high = min(len(slopes) - 1, int((len(slopes) + wide) / 2) + 1)
    return Slope(median(slopes), slopes[low], slopes[high], confidence)


def deviation(values: Sequence[float]) -> float:
    """The median distance from the median, scaled to a normal distribution's deviation."""
    middle = median(values)
    return 1.4826 * median(abs(value - middle) for value in values)


def windows(values: Sequence[float], size: int) -> list[float]:
    """The median of each full window of ``size`` values, one after the other."""
    return [median(values[at : at + size]) for at in range(0, len(values) - size + 1, size)]


@dataclass(frozen=True)
class Step:
    """A jump that stays.

    Attributes:
        at: Index of the first window after it.
        before: Median of the windows just before it.
        after: Median of the windows just after it.
    """

    at: int
    before: float
    after: float


def step(values: Sequence[float], beside: int = 4, least: float = 0.5) -> Step | None:
    """The largest upward step in a series of medians; None where there is none.

    A step is a jump between the ``beside`` values before and after a place that is at least
    ``least`` of the level before, six times the series' own scatter, and what the series grows by
    elsewhere in the same distance three times over; and that never falls back to the old level.

    Args:
        values: Medians of windows, in order.
        beside: Windows looked at on each side.
        least: Least jump, as a part of the level before.
    """
    found: Step | None = None
    for at in range(beside, len(values) - beside + 1):
        before, after = values[at - beside : at], values[at : at + beside]
        low, high = median(before), median(after)
        jump = high - low
        rest = [b - a for a, b in itertools.pairwise([*values[:at]])]
        rest += [b - a for a, b in itertools.pairwise([*values[at:]])]
        grows = abs(median(rest)) * beside if rest else 0.0
        scatter = max(deviation(before), deviation(after))
        between = low + jump / 2
        sides = [value < between for value in values[:at]] + [v > between for v in values[at:]]
        stays = sum(sides) >= 0.85 * len(sides)
        if jump < least * low or jump < 6 * scatter or jump < 3 * grows or not stays:
            continue
        if found is None or jump > found.after - found.before:
            found = Step(at, low, high)
    return found


def outliers(values: Sequence[float], times: float = 5.0, least: float = 0.2) -> list[int]:
    """Indices of what lies far above the others.

    Args:
        values: Seconds.
        times: How many medians an outlier takes at least.
        least: How far above the median it is at least, in seconds.
    """
    if not values:
        return []
    middle = median(values)
    bound = max(times * middle, middle + least, middle + 8 * deviation(values))
    return [index for index, value in enumerate(values) if value > bound]
