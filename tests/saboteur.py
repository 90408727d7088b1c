"""What somebody does to a network of a trial while nobody reads it back."""

from __future__ import annotations

from collections.abc import Callable

from trials import Steps, adding


def for_a_while(device: str, handle: str, other: str, back: str) -> Callable[[Steps], Steps]:
    """Something else holds for half a second of the workload, and nobody can read it back afterwards."""
    lines = (
        f"echo qdisc change dev {device} root handle {handle} {words} | /run/tools/qdisc" for words in (other, back)
    )
    text = "sleep 0.3; {}; sleep 0.5; {}; sleep 60".format(*lines)
    step = {"run": ["sh", "-c", text], "netns": "tb-path.emulator", "background": "somebody"}
    return adding("background=observer", step, later=1)
