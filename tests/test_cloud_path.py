"""`testbed path`: topologies from what others measured, each number traceable to a row of its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.commands.describe.path import path as path_command
from testbed.compare import cloud_path, published
from testbed.error import UserError
from testbed.model.link.bucket import PerFlow, Shaper
from testbed.spec.load import load_topology

HEAD = "src_region,src_tier,src_instance_class,dst_region,dst_tier,dst_instance_class,"
THROUGHPUTS = f"""{HEAD}tag,throughput_received,success
aws:a,PREMIUM,m5.8xlarge,gcp:b-c,STANDARD,n2,x,1e9,True
aws:a,PREMIUM,m5.8xlarge,gcp:b-c,PREMIUM,n2,x,4.7e9,True
gcp:b-c,PREMIUM,n2,aws:a,PREMIUM,m5.8xlarge,x,6.9e9,True
aws:a,PREMIUM,m5.8xlarge,aws:d,PREMIUM,m5.8xlarge,x,2e9,False
aws:a,PREMIUM,m5.8xlarge,aws:d,PREMIUM,m5.8xlarge,x,3e9,True
"""
LATENCIES = f"""{HEAD}min_rtt,avg_rtt,max_rtt,mdev_rtt
aws:a,PREMIUM,m5.large,gcp:b-c,PREMIUM,e2,20.3,20.405,20.6,0.1
aws:d,PREMIUM,m5.large,aws:a,PREMIUM,m5.large,80,85.5,90,0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / cloud_path.THROUGHPUT).write_text(THROUGHPUTS)
    (tmp_path / cloud_path.LATENCY).write_text(LATENCIES)
    return tmp_path


def made(tmp_path: Path, *ends: str, **options: object) -> str:
    given = {"instance": None, "rtt": None, "grid": None, **options}
    path_command(*(ends or (None, None)), **given, output=tmp_path / "out.yaml")  # type: ignore[arg-type]
    return (tmp_path / "out.yaml").read_text()


def test_each_number_of_a_pair_names_the_row_that_it_is_from(folder: Path) -> None:
    """The row of the standard tier, which is another network, does not count."""
    text = made(folder, "aws:a", "gcp:b", grid=folder)
    assert "# rtt: latency.csv:2 (m5.large): ping, April 2022; one measurement, its noise unknown" in text
    assert "# forward: 4.7 Gbit/s of payload; throughput.csv:3 (m5.8xlarge)" in text
    assert "# backward: 6.9 Gbit/s of payload; throughput.csv:4 (n2)" in text
    (link,) = load_topology(folder / "out.yaml").links
    ways = [link.asked("forward", is_data=True), link.asked("backward", is_data=False)]
    assert sum(way.delay_ns for way in ways) == 20_405_000
    assert [way.rate_bps for way in ways] == [4_914_000_000, 7_215_000_000]  # payload times 1514 / 1448


def test_a_slow_pair_has_its_rate_and_not_0(folder: Path) -> None:
    file = folder / cloud_path.THROUGHPUT
    file.write_text(file.read_text().replace("4.7e9", "3.2e5"))
    made(folder, "aws:a", "gcp:b", grid=folder)
    (link,) = load_topology(folder / "out.yaml").links
    assert link.asked("forward", is_data=True).rate_bps == pytest.approx(3.2e5 * 1514 / 1448, rel=0.01)


@pytest.mark.parametrize(
    ("instance", "burst_bytes", "refill_bps"),
    [
        ("c5.large", 2.55e12 / 8, 0.75e9),
        ("c5.xlarge", 4.55e12 / 8, 1.25e9),
        ("c5.2xlarge", 7.7e12 / 8, 2.51e9),
        ("c5.4xlarge", 10.7e12 / 8, 5.02e9),
    ],
)
def test_an_instance_has_its_token_bucket(tmp_path: Path, instance: str, burst_bytes: float, refill_bps: float) -> None:
    made(tmp_path, "aws:us-east-1", "aws:eu-west-1", instance=instance, rtt="85ms")
    (link,) = load_topology(tmp_path / "out.yaml").links
    for way in (link.asked("forward", is_data=True), link.asked("backward", is_data=False)):
        assert way.shaper == Shaper(10**10, round(burst_bytes), round(refill_bps))
        assert way.per_flow == PerFlow(5 * 10**9)


def test_a_flow_of_aws_has_its_cap_where_the_link_carries_more(folder: Path) -> None:
    file = folder / cloud_path.THROUGHPUT
    lines = file.read_text().splitlines()
    text = "\n".join(
        line.replace("4.7e9", "9.4e9").replace("6.9e9", "3.9e9").replace("gcp:b-c", "aws:b") for line in lines
    )
    file.write_text(text + "\n")
    latency = folder / cloud_path.LATENCY
    latency.write_text(latency.read_text().replace("gcp:b-c", "aws:b"))
    written = made(folder, "aws:a", "aws:b", grid=folder)
    assert "# per_flow: Amazon EC2 User Guide" in written
    (link,) = load_topology(folder / "out.yaml").links
    assert link.forward.per_flow == PerFlow(5 * 10**9)
    assert (link.forward.rate_bps or 0) > 5 * 10**9
    assert link.backward.per_flow is None


def test_without_rows_a_path_of_aws_has_the_rate_of_its_rtt(tmp_path: Path) -> None:
    text = made(tmp_path, "aws:us-east-1", "aws:eu-west-1", rtt="90ms")
    assert "# forward: 4.12 Gbit/s of payload; skyplane-2022: on a line between the points next to it" in text
    assert "no row of this pair" in text


def test_all_pairs_are_a_profile_whose_points_name_their_rows(folder: Path) -> None:
    """An RTT that was measured in the other direction counts; a run that failed does not."""
    made(folder, grid=folder)
    found = published.load(folder / "out.yaml")
    assert set(found.series) == {"aws-aws", "aws-gcp", "gcp-aws"}
    (point,) = found.series["aws-aws"].points
    assert (point.at.value, point.value and point.value.value) == (pytest.approx(0.0855), 3e9)
    assert point.where == "lines 6/3: aws:a to aws:d"
    assert found.series["aws-gcp"].is_over_rtt
    assert point.runs == 1  # so that nobody takes its last digit for what is known


@pytest.mark.parametrize(
    ("ends", "options", "said"),
    [
        (("aws:a", "aws:d"), {}, "the RTT from aws:a to aws:d does not come with the testbed; allowed: --rtt TIME"),
        (("aws:a",), {}, "two regions are missing"),
        ((), {}, "two regions are missing"),
        (("aws:a", "azure:d"), {"rtt": "90ms"}, "nothing of azure:d comes with the testbed"),
        (("aws:a", "aws:d"), {"rtt": "900ms"}, "--rtt 900 ms: allowed: 8 to 298 ms"),
        (("aws:us-east-1", "aws:d\nlinks: {}"), {"rtt": "90ms"}, "is no region; allowed: such as aws:us-east-1"),
        (("aws:a", "aws:d"), {"rtt": "soon"}, "--rtt soon: 'soon' is not a time"),
        (("aws:a", "aws:d"), {"rtt": "0"}, "--rtt 0: allowed: a time above 0"),
        (("aws:us-east-1", "aws:eu-wst-1"), {"rtt": "85ms"}, "aws:eu-wst-1 is not how AWS calls a region"),
        (("aws:us-east-1", "aws:d"), {"rtt": "9ms", "instance": "c5.large"}, "aws:d is not how AWS calls a region"),
        (("aws:a", "gcp:d"), {"rtt": "9ms", "instance": "c5.large"}, "gcp:d is not of AWS"),
        (("aws:a", "aws:d"), {"rtt": "9ms", "instance": "c5.larg"}, "did you mean 'c5.large'"),
    ],
)
def test_what_is_not_known_is_refused(
    tmp_path: Path, ends: tuple[str, ...], options: dict[str, object], said: str
) -> None:
    padded = (*ends, None)[:2] if len(ends) == 1 else ends
    with pytest.raises(UserError, match=said):
        made(tmp_path, *padded, **options)  # type: ignore[arg-type]
    assert not (tmp_path / "out.yaml").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("latency.csv", "85.5", "fast", r"latency.csv:3: avg_rtt: 'fast' is no number from 0.001 to"),
        ("throughput.csv", "6.9e9", "-1", r"throughput.csv:4: throughput_received: '-1' is no number from 1000 to"),
        ("throughput.csv", "6.9e9", "nan", r"throughput.csv:4: throughput_received: 'nan' is no number"),
        ("throughput.csv", "6.9e9", "100", r"throughput.csv:4: throughput_received: '100' is no number"),
        ("latency.csv", "20.405", "1e-9", r"latency.csv:2: avg_rtt: '1e-9' is no number"),
        ("latency.csv", "aws:d", "aws d", r"latency.csv:3: 'aws d' is no region; allowed: such as aws:us-east-1"),
        ("latency.csv", "avg_rtt", "rtt", r"latency.csv:1: there is no column avg_rtt"),
    ],
)
def test_a_damaged_grid_is_refused_with_its_line(folder: Path, file: str, old: str, new: str, said: str) -> None:
    (folder / file).write_text((folder / file).read_text().replace(old, new))
    with pytest.raises(UserError, match=said):
        made(folder, "aws:a", "gcp:b", grid=folder)


def test_a_pair_without_a_row_and_a_folder_without_files_are_named(folder: Path) -> None:
    with pytest.raises(UserError, match=r"throughput\.csv has no row from aws:d to gcp:b"):
        made(folder, "aws:d", "gcp:b", grid=folder)
    with pytest.raises(UserError, match=r"throughput\.csv has no region 'aws:z'; allowed: aws:a"):
        made(folder, "aws:z", "gcp:b", grid=folder)
    with pytest.raises(UserError, match=r"throughput.csv cannot be read: .*; allowed: a folder with throughput.csv"):
        made(folder, "aws:a", "gcp:b", grid=folder / "nowhere")
