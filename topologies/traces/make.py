"""Makes the traces of this folder, the same at each run: `python3 topologies/traces/make.py`. Writes into its folder.

stepwise.csv    60 s: the rate steps from 2 to 50 Mbit/s and back; 100 ms of silence in the middle. Made
                by hand, to watch a congestion control at each step.
satellite.csv   60 s: every 15 s another satellite takes over. The link is silent for 80 ms, then has another rate,
                between 20 and 90 Mbit/s, which rises to the middle of the pass and falls again.
fading.trace    20 s, in the format of Mahimahi: a radio link whose power fades as in Rayleigh's model (a sum of eight
                waves with the phases of random.Random(1), Doppler 2 Hz); 12 Mbit/s on average.
"""

import math
import random
from pathlib import Path

HERE = Path(__file__).parent
PACKET_BITS = 8 * 1514


def stepwise() -> str:
    steps = ((0, 2), (10, 10), (20, 50), (30, 0), (30.1, 50), (40, 10), (50, 2))
    rows = (f"{begin:g},{rate * 10**6}\n" for begin, rate in steps)
    return f"time_s,rate_bps\n{''.join(rows)}60,end\n"


def satellite() -> str:
    lines = ["time_s,rate_bps"]
    for number, top_mbps in enumerate((60, 90, 45, 75)):
        begin_ms = 15_000 * number
        lines.append(f"{begin_ms / 1000:g},0")
        for second in range(15):
            share = 1 - abs(second - 7) / 7
            rate_bps = round((20 + (top_mbps - 20) * share) * 10) * 10**5
            lines.append(f"{(begin_ms + 1000 * second + (0 if second else 80)) / 1000:g},{rate_bps}")
    return "\n".join((*lines, "60,end\n"))


def fading() -> str:
    draws = random.Random(1)
    waves = [(math.cos(2 * math.pi * (n + 0.5) / 16), *(draws.uniform(0, 2 * math.pi) for _ in "iq")) for n in range(8)]
    powers = []
    for time_ms in range(1, 20_001):
        angle = 2 * math.pi * 2 * time_ms / 1000
        i, q = (sum(math.cos(angle * wave[0] + wave[part]) for wave in waves) for part in (1, 2))
        powers.append(i * i + q * q)
    scale = 12e3 * len(powers) / sum(powers)
    lines, bits = [], 0.0
    for time_ms, power in enumerate(powers, 1):
        bits += power * scale
        while bits >= PACKET_BITS:
            bits -= PACKET_BITS
            lines.append(f"{time_ms}\n")
    return "".join(lines)


if __name__ == "__main__":
    for name, text in (("stepwise.csv", stepwise()), ("satellite.csv", satellite()), ("fading.trace", fading())):
        (HERE / name).write_text(text)
