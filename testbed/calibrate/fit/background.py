"""Whether a link that does not change explains how the rate varies. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis import changepoint, statistic
from .fitted import Explanation, Fitted, Found, correlation, unknown
from .rate import Load

VARIES_CV = 0.08
"""What buffers of sockets and the sawtooth of several flows explain, while a queue stands."""
STANDING = 0.9
APART = "repeat it at several hours; packet pairs in a capture show the capacity: `tcpdump -w pairs.pcap`"


def fit(loads: Sequence[Load]) -> Found:
    """Judges loads under which a queue always stood: there, a constant link gives a constant rate."""
    full = [each for each in loads if each.standing is not None and each.standing >= STANDING and len(each.seconds) > 4]
    if not full:
        rule = "no transfer kept a queue standing, so its rate may vary by itself"
        return Found((unknown("background", "ratio", rule, "run `iperf3 --json -P 8 -t 60 -c SERVER`"),))
    best = max(full, key=lambda each: len(each.seconds))
    rates = [each.rate_bps for each in best.seconds]
    cv = statistic.population_cov(rates)
    rule = f"how the rate of {best.group.said} varies while a queue stands (standard deviation over mean)"
    fitted = Fitted("background", "ratio", "identified", rule, cv, sources=best.group.files)
    if cv < VARIES_CV:
        return Found((fitted,))
    shifts = 0
    if len(rates) >= 2 * changepoint.SHORTEST:
        shifts = len(changepoint.levels(rates).shifts)
    why = f"the rate varies by {cv:.0%}, its neighbours correlate by {correlation(rates):.2f}, {shifts} shifts of level"
    return Found(
        (fitted,),
        (
            Explanation("variation", "a constant link that nobody else uses", False, why),
            Explanation("variation", "traffic of others, which comes and goes", True, why, APART),
            Explanation("variation", "a link whose rate changes", True, why, APART),
        ),
    )
