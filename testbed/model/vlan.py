"""VLANs: the membership of a switch's port, and the frames that pass it. Pure, no I/O."""

from __future__ import annotations

from typing import TypeAlias

from ..codec.frozen import dataclass

Tag: TypeAlias = int | None
"""The VLAN of a frame's 802.1Q tag; None is a frame without a tag."""

VLAN_MIN, VLAN_MAX = 1, 4094


@dataclass(frozen=True)
class Membership:
    """The VLANs of a switch's port to `link`.

    An access port belongs to one, and its frames have no tag on the link. (Linux also admits frames with the tag of its
    VLAN; topologies where these could arrive are refused.) A trunk belongs to `vlans`, in the order of the file, and
    tags all frames.
    """

    link: str
    vlans: tuple[int, ...]
    is_trunk: bool

    @property
    def tags(self) -> tuple[Tag, ...]:
        """The tags of the frames on the link."""
        return self.vlans if self.is_trunk else (None,)

    def inside(self, tag: Tag) -> tuple[int, ...]:
        """The VLAN of a frame from the link in the switch; empty if it is dropped."""
        if not self.is_trunk:
            return self.vlans if tag is None else ()
        return tuple(vlan for vlan in self.vlans if vlan == tag)

    def outside(self, vlan: Tag) -> tuple[Tag, ...]:
        """The tag of a frame of a VLAN that leaves by the link; empty if it does not."""
        if vlan not in self.vlans:
            return ()
        return (vlan,) if self.is_trunk else (None,)
