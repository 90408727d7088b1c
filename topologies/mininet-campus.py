"""A campus in the words of Mininet: what a course hands out, unchanged by us. `mn --custom` takes it too."""

from mininet.topo import Topo


class Campus(Topo):
    """Buildings with `k` hosts each, on switches of 100 Mbit/s that meet in a core of 1 Gbit/s."""

    def build(self, buildings=2, k=2):
        core = self.addSwitch("s1")
        for b in range(1, buildings + 1):
            edge = self.addSwitch(f"s{b + 1}")
            self.addLink(edge, core, bw=1000, delay="1ms")
            for h in range(1, k + 1):
                host = self.addHost(f"h{(b - 1) * k + h}")
                self.addLink(host, edge, bw=100, delay="2ms", max_queue_size=200)


topos = {"campus": Campus}
