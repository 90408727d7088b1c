"""VLANs: how a port of a switch belongs to them, and so which frames pass it. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Tag: TypeAlias = int | None
"""The VLAN that a frame's 802.1Q tag says; None is a frame without a tag."""

VLAN_MIN, VLAN_MAX = 1, 4094


@dataclass(frozen=True)
class Membership:
    """The VLANs of a switch's port to `link`.

    An access port belongs to one, and its frames have no tag on the link: where frames with the tag of its VLAN could
    come, which Linux lets in, a topology is refused. A trunk belongs to `vlans`, in the order of
    the file, and all its frames are tagged.
    """

    link: str
    vlans: tuple[int, ...]
    is_trunk: bool

    @property
    def tags(self) -> tuple[Tag, ...]:
        """Those of the frames on the link."""
        return self.vlans if self.is_trunk else (None,)

    def inside(self, tag: Tag) -> tuple[int, ...]:
        """The VLAN that a frame from the link belongs to in the switch; nothing for one that is dropped."""
        if not self.is_trunk:
            return self.vlans if tag is None else ()
        return tuple(vlan for vlan in self.vlans if vlan == tag)

    def outside(self, vlan: Tag) -> tuple[Tag, ...]:
        """The tag with which a frame of a VLAN leaves by the link; nothing for one that does not."""
        if vlan not in self.vlans:
            return ()
        return (vlan,) if self.is_trunk else (None,)
