"""Submissions that attack: each ends, alone and with a clear reason, and nothing of it counts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from testbed.exercise import check, feedback, submission, submission_network, work_folder
from testbed.exercise.mark import Mark
from testbed.library import EXERCISES

pytestmark = [pytest.mark.lab, pytest.mark.slow]

AT = "        self.ports = {}  # for each switch: the port behind which an address is\n"
REPOSITORY = EXERCISES.resolve().parent
SECRETS = (
    f"{EXERCISES.resolve()}/learning-switch/solution/switch.py",
    f"{EXERCISES}/learning-switch/solution/switch.py",
    f"{EXERCISES.resolve()}/learning-switch/variants/other-hosts/topology.yaml",
    "/run/python/0/exercises/learning-switch/solution/switch.py",
    "/run/python/0/testbed/_library/exercises/learning-switch/solution/switch.py",
    f"{Path.home()}/.bashrc",
    "/etc/shadow",
    "/run/trial/steps.json",
    "/proc/1/root/run/trial/steps.json",
    "/proc/1/environ",
)
PLACES = ("/run/trial/rule-0-0.out", "/run/tb-ovs/s1/x", "/run/netns/x", "/run/tools/x", "/usr/x", "/root/x")


def marked(code: str) -> Mark:
    exercise = work_folder.find("learning-switch")
    right = submission.of_solution(exercise).text("switch.py")
    assert AT in right
    text = right.replace(AT, AT + "".join(f"        {line}\n" for line in code.strip().splitlines()))
    return check.mark(exercise, submission.checked(exercise, "theirs", {"switch.py": text.encode()}, []))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys\nwhile True: sys.stderr.write('x' * 1000000)", "files take more than"),
        ("import os\nwhile True: os.write(1, b'x' * 1000000)", "files take more than"),
        ("while True: pass", "processor time"),
        (
            "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
            "processes|processor time|out of memory|died",
        ),
    ],
    ids=["output", "stdout", "loop", "bomb"],
)
def test_it_ends_with_a_reason_and_no_points(code: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission_network, "OUTPUT_BYTES", 64 << 20)
    found = marked(code)
    assert found.points == 0
    assert found.ended is not None
    assert any(word in found.ended for word in says.split("|")), found.ended
    assert all(rule.outcome == "not checked" for rule in found.rules)


def test_it_reads_no_secrets_and_writes_no_evidence() -> None:
    code = f"""
import os, socket, ctypes, sys
out = []
for path in {SECRETS!r}:
    try:
        out.append("READ " + path + open(path).read(20))
    except OSError:
        pass
for path in {PLACES!r}:
    try:
        open(path, "a").write("x"); out.append("WROTE " + path)
    except OSError:
        pass
for pid in (each for each in os.listdir("/proc") if each.isdigit() and int(each) != os.getpid()):
    try:
        os.kill(int(pid), 0); out.append("KILLS " + pid)
    except OSError:
        pass
libc = ctypes.CDLL(None)
for name in ("tb-s1", "tb-a"):
    try:
        if libc.setns(os.open("/run/netns/" + name, os.O_RDONLY), 0) == 0: out.append("ENTERS " + name)
    except OSError:
        pass
try:
    socket.socket(socket.AF_UNIX).connect("/run/tb-ovs/s1/db.sock"); out.append("CONNECTS")
except OSError:
    pass
if os.getuid() == 0: out.append("IS ROOT")
sys.stderr.write("Error tried all" + chr(10) + chr(10).join(out) + chr(10))
"""
    found = marked(code)
    said = "\n".join(found.notes)
    assert "tried all" in said
    assert not any(word in said for word in ("READ", "WROTE", "KILLS", "ENTERS", "CONNECTS", "ROOT")), said
    assert found.is_full


def test_an_app_that_crashes_is_told_of() -> None:
    found = marked("raise RuntimeError('what a pity')")
    assert found.points == 0
    assert any("what a pity" in note for note in found.notes)


def test_the_same_submission_has_the_same_bytes() -> None:
    exercise = work_folder.find("learning-switch")
    first, second = (check.mark(exercise, submission.of_wrong(exercise, "hub")).data() for _ in range(2))
    assert first == second


def of(name: str, changes: dict[str, str]) -> Mark:
    """The mark of a solution that goes on in some files."""
    exercise = work_folder.find(name)
    right = submission.of_solution(exercise)
    files = dict(right.files) | {each: right.files[each] + text.encode() for each, text in changes.items()}
    return check.mark(exercise, submission.checked(exercise, "theirs", files, []))


def test_nobody_answers_in_anothers_place() -> None:
    found = of("static-routes", {"r1.conf": "interface lo\n ip address 10.3.0.10/32\nexit\n"})
    assert found.points == 0
    assert "r1 has the address 10.3.0.10 of h3" in str(found.rules[0].seen)


PRINTER = """title: The printer
goal: A router in between.
time: 5 min
topology: topology.yaml
scripts: {r: r.sh}
files: {r.sh: {}}
expect:
  - {name: reaches, reach: {from: [client], to: [printer]}, message: Alas.}
  - {name: says, output: {node: client, run: "ping -c 3 -W 1 {printer.ip}", matches: "3 received"}, message: Alas.}
  - {name: way, path: {from: client, to: printer, through: [r]}, message: Alas.}
  - {name: stays, converges: {from: client, to: printer, when: [{wait: 1 s}], within: 1 s}, message: Alas.}
"""
BETWEEN = """name: printer
nodes: {client: {type: host}, r: {type: router}, printer: {type: host}}
links:
  a: {ends: [client, r], addresses: {client: 10.1.0.2/24, r: 10.1.0.1/24}}
  b: {ends: [r, printer], addresses: {r: 10.4.0.1/24, printer: 10.4.0.2/24}}
"""
REDIRECTS = """nft add table ip n
nft add chain ip n pre '{ type nat hook prerouting priority -100; }'
nft add rule ip n pre ip daddr %s icmp type echo-request %s
"""


def printer(folder: Path, script: str, text: str = PRINTER) -> Mark:
    """The mark of a script for the router between a client and a printer."""
    for name in ("solution", "starter"):
        (folder / name).mkdir(parents=True)
        (folder / name / "r.sh").write_text("# nothing\n")
    (folder / "exercise.yaml").write_text(text)
    (folder / "topology.yaml").write_text(BETWEEN)
    exercise = work_folder.find(str(folder))
    return check.mark(exercise, submission.checked(exercise, "theirs", {"r.sh": script.encode()}, []))


def test_nobody_answers_in_anothers_place_by_nat(tmp_path: Path) -> None:
    found = printer(tmp_path / "printer", "ip link set eth1 down\n" + REDIRECTS % ("10.4.0.2", "redirect"))
    seen = {rule.name: str(rule.seen) for rule in found.rules}
    in_its_place = "were answered, 0 of them by the right node: another one answers in its place"
    assert f"client → printer: 3 pings of printer {in_its_place}" in seen["reaches"]
    assert f"3 pings of printer {in_its_place}" in seen["says"]
    assert in_its_place in seen["stays"]
    assert found.points == 0, seen


def test_nobody_is_the_last_hop_in_anothers_place(tmp_path: Path) -> None:
    found = printer(tmp_path / "printer", REDIRECTS % ("10.4.0.2", "redirect"), PRINTER.replace("[r]", "[]"))
    assert found.rules[2].seen == "printer answered no ping: another node answers in its place"


def test_what_nat_sends_to_the_right_node_counts(tmp_path: Path) -> None:
    rule = "nft add chain ip n post '{ type nat hook postrouting priority 100; }'\nnft add rule ip n post masquerade\n"
    found = printer(tmp_path / "printer", REDIRECTS % ("10.4.0.2", "dnat to 10.4.0.2") + rule)
    assert found.is_full, found


def test_an_address_of_nobody_is_no_router() -> None:
    """c has no address of the plan, and r answers for it."""
    script = "# nothing\n"
    exercise = work_folder.find("addressing")
    files = dict(submission.of_solution(exercise).files)
    files |= {"c.sh": script.encode(), "r.sh": files["r.sh"] + (REDIRECTS % ("192.168.2.10", "redirect")).encode()}
    found = check.mark(exercise, submission.checked(exercise, "theirs", files, []))
    assert {"across", "across-from-b"} <= set(found.fails)
    seen = {rule.name: str(rule.seen) for rule in found.rules}
    assert "pings of an address that no node has" in seen["across"], seen


def test_own_addresses_are_no_neighbours() -> None:
    takes = "ip address add 192.168.1.20/32 dev lo\nip address add 192.168.2.10/32 dev lo\n"
    found = of("addressing", {"a.sh": takes})
    assert {"neighbours", "across", "prefix-of-a"} <= set(found.fails)


def test_a_script_ends_with_all_that_it_started_and_finds_no_other_node() -> None:
    text = "sleep 1000 &\nip link add x type veth peer name y netns tb-c || echo NOT THERE\nfalse\n"
    later = "grep -lsr sleep /proc/[0-9]*/cmdline && echo RUNS\nip -br link show y 2>/dev/null && echo MADE\nfalse\n"
    found = of("addressing", {"a.sh": text, "c.sh": later})
    assert any("NOT THERE" in note for note in found.notes), found.notes
    assert not any("RUNS" in note or "MADE" in note for note in found.notes), found.notes


def test_a_script_is_a_normal_shells(tmp_path: Path) -> None:
    """It goes on after a command that fails, is in a file of its own name, and reads nothing."""
    script = "ip route del 10.99.0.0/16\ncat\nip link set eth1 down\nnosuchcommand\n"
    found = printer(tmp_path / "printer", script)
    assert found.points == 0
    assert found.notes == (
        "r.sh in r ended with status 127:\nRTNETLINK answers: No such process\nr.sh: 4: nosuchcommand: not found",
    )
    assert found.remarks == ["r.sh in r ended with status 127: r.sh: 4: nosuchcommand: not found"]


def test_a_script_that_goes_on_is_ended(tmp_path: Path) -> None:
    found = printer(tmp_path / "printer", "sleep 100\n")
    assert (found.is_full, found.notes) == (True, ("r.sh in r was ended after 60 s",))
    assert "testbed-status" not in str(found)


def test_a_ruleset_that_nft_refuses_is_told_with_its_line() -> None:
    exercise = work_folder.find("nat")
    text = submission.of_solution(exercise).text("home.nft").replace("chain forward", "chain fwd")
    found = check.mark(exercise, submission.checked(exercise, "theirs", {"home.nft": text.encode()}, []))
    why = "home.nft:10: Error: syntax error, unexpected fwd, expecting string"
    assert str(found.ended).splitlines()[:3] == [why, "  chain fwd {", "        ^^^"]
    assert "/run/" not in str(found.ended)
    assert found.remarks == [why]
    assert f"({why})" in str(found.rules[0].seen)
    told = feedback.text(exercise, found)
    assert f"> {why}  " in told
    assert "^^^" not in told


def test_a_ruleset_quotes_nothing_of_a_file_that_it_includes() -> None:
    exercise = work_folder.find("nat")
    text = 'table ip home {\n  chain fwd { }\n}\ninclude "/etc/passwd"\n'
    found = check.mark(exercise, submission.checked(exercise, "theirs", {"home.nft": text.encode()}, []))
    own, *_, last = str(found.ended).splitlines()
    assert own == "home.nft:2: Error: syntax error, unexpected fwd, expecting string"
    assert last == "home.nft:4: Error: what is included here is no ruleset"
    assert "root" not in str(found)
    assert "/etc/passwd" not in str(found)


def test_the_configuration_of_a_router_writes_no_files() -> None:
    found = of("static-routes", {"r4.conf": "exit\noutput file /run/trial/theirs.out\nshow version\n"})
    assert found.points == 0
    assert "writes a file" in found.problems[0]


def with_program(folder: Path, run: str) -> Mark:
    """The mark of a program as the controller, in an exercise in which the topology is the student's."""
    shutil.copytree(EXERCISES / "learning-switch", folder)
    said = (folder / "exercise.yaml").read_text()
    said = said.replace("variants:\n  other-hosts: hosts with other addresses, at other ports\n", "")
    said = "".join(line for line in said.splitlines(keepends=True) if not line.startswith("draw:"))
    (folder / "exercise.yaml").write_text(said.replace("files:\n", "files:\n  topology.yaml: {}\n"))
    topology = (folder / "topology.yaml").read_text()
    for name in ("solution", "starter"):
        (folder / name / "topology.yaml").write_text(topology)
    exercise = work_folder.find(str(folder))
    files = dict(submission.of_solution(exercise).files)
    assert b"app: switch.py" in files["topology.yaml"]
    files["topology.yaml"] = files["topology.yaml"].replace(b"app: switch.py", f'command: [sh, -c, "{run}"]'.encode())
    return check.mark(exercise, submission.checked(exercise, "theirs", files, []))


def test_a_program_as_the_controller_is_nobody(tmp_path: Path) -> None:
    run = "echo $(id -u) Error >&2; echo x >/run/trial/x.out; exec ovs-testcontroller ptcp:6653"
    found = with_program(tmp_path / "open", run)
    assert "could not be checked" not in str(found.rules[0].seen), found
    assert found.rules[0].points, found
    assert any("65534 Error" in note and "x.out: Permission denied" in note for note in found.notes), found.notes


def test_a_program_that_does_not_listen_is_told_of_with_what_it_printed(tmp_path: Path) -> None:
    found = with_program(tmp_path / "open", "echo no settings found; echo oh dear >&2; exec sleep 10000")
    assert found.points == 0
    assert found.ended == "a switch did not find its controller\nit said:\noh dear\nno settings found"


def test_a_device_in_another_node_is_found() -> None:
    found = of("addressing", {"c.sh": "ip link add x link eth0 link-netnsid 0 type macvlan mode bridge\n"})
    assert "the device x of c reaches another node" in str(found.rules[0].seen), found


DENIES_LATER = """
from os_ken.controller.handler import MAIN_DISPATCHER
from os_ken.lib import hub
from os_ken.lib.packet import packet, tcp


class Fickle(Firewall):
    def deny(self, datapath, line):
        pass

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def looks(self, event):
        about = packet.Packet(event.msg.data).get_protocol(tcp.tcp)
        if about is not None and about.dst_port == 80:
            hub.spawn_after(0.5, self.shut, event.msg.datapath)

    def shut(self, datapath):
        for policy in ({}, {"ipv4_src": "10.0.0.4", "ipv4_dst": "10.0.0.2"}):
            match = datapath.ofproto_parser.OFPMatch(eth_type=0x0800, **policy)
            self.add_flow(datapath, 200 + len(policy), match, [])
"""


def test_a_network_that_denies_all_once_it_was_seen_to_work_is_no_firewall() -> None:
    """What is to be closed counts only if what is open is so before and after. After 0.5 s the answer from port 80 is
    long there.
    """
    exercise = work_folder.find("firewall")
    text = submission.of_solution(exercise).text("firewall.py") + DENIES_LATER
    found = check.mark(exercise, submission.checked(exercise, "fickle", {"firewall.py": text.encode()}, []))
    seen = {rule.name: rule.seen or "" for rule in found.rules}
    assert "it held when web-is-open no longer did" in seen["port-8080-is-closed"]
    assert "it held when what-is-allowed-works no longer did" in seen["port-22-is-closed"]
    assert {rule.name for rule in found.rules if rule.outcome == "passed"} <= {"what-is-allowed-works", "web-is-open"}


@pytest.mark.parametrize(("rest", "points"), [("flooded", 5), ("dropped", 0)])
def test_addresses_that_were_written_down_are_of_no_use_in_another_network(rest: str, points: int) -> None:
    """Where all other frames are flooded, they arrive and no more; where they are dropped, none does."""
    exercise = work_folder.find("learning-switch")
    text = submission.of_wrong(exercise, "static-table").text("switch.py")
    all_others, broadcasts = "0, parser.OFPMatch(),", '1, parser.OFPMatch(eth_dst="ff:ff:ff:ff:ff:ff"),'
    assert all_others in text
    if rest == "dropped":
        text = text.replace(all_others, broadcasts)
    found = check.mark(exercise, submission.checked(exercise, "theirs", {"switch.py": text.encode()}, []))
    assert found.points == points
    assert {"learns", "learns-everywhere", "spares-others"} <= set(found.fails)
    reasons = [rule.seen or "" for rule in found.rules]
    assert any("in another network (hosts with other addresses, at other ports): " in each for each in reasons), reasons


def test_meters_for_all_are_no_queue_for_the_call() -> None:
    """Who limits everybody to less than the uplink needs no queue, and takes what is the office's."""
    exercise = work_folder.find("qos")
    text = submission.of_solution(exercise).text("qos.py")
    text = text.replace('if line["queue"]:', "if False:")
    limit = """
        parser, ofproto = datapath.ofproto_parser, datapath.ofproto
        band = parser.OFPMeterBandDrop(rate=300)
        datapath.send_msg(parser.OFPMeterMod(datapath, ofproto.OFPMC_ADD, ofproto.OFPMF_KBPS, 99, [band]))
        self.classify(datapath, 1, parser.OFPMatch(eth_type=0x0800), [parser.OFPInstructionMeter(99)])
"""
    at = text.index("        with CLASSES.open()")
    found = of("qos", {"qos.py": text[:at] + limit.lstrip("\n") + text[at:]})
    held = {rule.name for rule in found.rules if rule.points}
    assert held <= {"reaches", "guest-has-its-rate", "guest-with-a-mark"}, found
    assert found.rules[0].points, found
