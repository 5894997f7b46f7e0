"""How demand comes: growth over years, the wave of a day, the week; and how long a lost drive is missing."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_DAY_S = 86400.0
_SATURDAY_S = 5 * _DAY_S  #: the first hours of Saturday, from Monday on [s]


def grown(time_s: ArrayLike, growth: float, year_s: float) -> Any:
    """Demand over that at the start, growing by the same share every year.

    f = (1 + g)^(t / year).

    Args:
        time_s: Time since the start [s].
        growth: Growth g in a year [1].
        year_s: Length of a year [s].

    Returns:
        Factor on the demand at the start [1].

    Valid: growth > -1.
    Neglects: steps (a new instrument), saturation.
    Source: definition of compound growth.
    """
    return np.power(1.0 + growth, np.asarray(time_s, float) / year_s)


def weekly(since_monday_s: ArrayLike, wave: float, peak_hour: float, weekend: float) -> Any:
    """Intensity of arrivals over its mean, by hour of the day and day of the week.

    i = (1 + w cos(2 pi (h - peak) / 24)) d 7 / (5 + 2 e), d = e on Saturday and Sunday, 1 else: the mean of a week is
    1.

    Args:
        since_monday_s: Time since Monday, midnight [s].
        wave: Amplitude w of the daily wave [1].
        peak_hour: Hour of its top [h].
        weekend: Arrivals of a day of the weekend over those of another day, e [1].

    Returns:
        Intensity over the mean [1].

    Valid: 0 <= wave <= 1, weekend >= 0.
    Neglects: holidays, a wave that is no cosine.
    Source: first harmonic of the daily profile that link traces show (Thompson, Miller and Wilder, Wide-area Internet
        traffic patterns and characteristics, IEEE Network 11(6), 1997).
    """
    time = np.asarray(since_monday_s, float)
    hour = time % _DAY_S / 3600.0
    daily = 1.0 + wave * np.cos(2 * np.pi * (hour - peak_hour) / 24.0)
    return daily * np.where(time % (7 * _DAY_S) >= _SATURDAY_S, weekend, 1.0) * 7.0 / (5.0 + 2.0 * weekend)


def weekly_top(wave: float, weekend: float) -> float:
    """The highest that `weekly` gets.

    (1 + w) max(1, e) 7 / (5 + 2 e).

    Args:
        wave: Amplitude of the daily wave [1].
        weekend: Arrivals of a day of the weekend over those of another day [1].

    Returns:
        Highest intensity over the mean [1].

    Valid: 0 <= wave <= 1, weekend >= 0.
    Neglects: as `weekly`.
    Source: the maximum of `weekly`, at its peak hour on a weekday or, where e > 1, at the weekend.
    """
    return (1.0 + wave) * max(1.0, weekend) * 7.0 / (5.0 + 2.0 * weekend)


def rebuild_time(size_B: float, rate_Bps: float) -> float:
    """Time in which the content of a lost drive is written to its replacement.

    t = size / rate.

    Args:
        size_B: Size of the drive [B].
        rate_Bps: Rate of the rebuild [B/s].

    Returns:
        Time [s].

    Valid: both above 0.
    Neglects: a rebuild that slows down under load; file systems that rebuild only what is in use.
    Source: Patterson, Gibson and Katz, A Case for RAID, SIGMOD 1988 (mean time to repair of a disk).
    """
    return size_B / rate_Bps
