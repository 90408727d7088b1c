"""Topologies for Mininet, good and bad, that the tests read."""

from functools import partial
from itertools import pairwise

from mininet.link import TCLink
from mininet.node import Host, OVSBridge, OVSSwitch, UserSwitch
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo


class Words(Topo):
    """Every option that is followed, in Mininet's words."""

    def build(self, k=2, name="h"):
        print("what a class prints is not its network")
        switch = self.addSwitch("S_1", cls=partial(OVSSwitch, failMode="standalone"), dpid="00:2a")
        for number in range(1, k + 1):
            self.addHost(f"{name}{number}", cls=Host, cpu=0.5, privateDirs=[], mac=f"00:00:00:00:AA:0{number}")
        self.addLink(f"{name}1", switch, cls=TCLink, bw=0.5, delay="5ms", jitter="100us", loss=1, max_queue_size=20)
        self.addLink(f"{name}2", switch, delay=1000, params1={"bw": 10}, params2={"bw": 2.5})


class Routed(Topo):
    """A host with two links has addresses on both, which Mininet does not give."""

    def build(self):
        for end in ("left", "right"):
            self.addLink(self.addHost(end), "middle" if "middle" in self.g.node else self.addHost("middle"))


class Ring(Topo):
    def build(self):
        switches = [self.addSwitch(f"s{number}") for number in range(3)]
        for number in range(3):
            self.addLink(switches[number], switches[(number + 1) % 3])


class Raises(Topo):
    def build(self):
        self.addLink("h1", self.nothing)


class Loops(Topo):
    def build(self):
        while True:
            pass


class Shaped(Topo):
    def build(self):
        self.addLink(self.addHost("h1"), self.addSwitch("s1"), bw=10, use_hfsc=True)


class Private(Topo):
    def build(self):
        self.addLink(self.addHost("h1", privateDirs=["/var"]), self.addSwitch("s1"))


class Queue(Topo):
    def build(self):
        self.addLink(self.addHost("h1"), self.addSwitch("s1"), max_queue_size=10)


class Kinds(Topo):
    """A switch of each class, in a row."""

    def build(self, stp=False, **options):
        self.addSwitch("plain", **options)
        self.addSwitch("bridge", cls=LinuxBridge, stp=stp, dpid="7")
        self.addSwitch("lone", cls=OVSBridge)
        self.addSwitch("slow", cls=UserSwitch)
        for one, other in pairwise(("plain", "bridge", "lone", "slow")):
            self.addLink(one, other)
        self.addLink(self.addHost("h1"), "plain")
        self.addLink(self.addHost("h2"), "slow")


topos = {"words": Words}
