"""Published profiles: they hold what the papers print, and what is wrong in a file is said with its line."""

from pathlib import Path

import pytest

from testbed.analysis import statistic, tcp_model
from testbed.codec.keyed import read
from testbed.compare import published
from testbed.compare.number import parse_number
from testbed.compare.published import Certainty, Measure, PublishedProfile, Series
from testbed.error import SpecError, UserError, ValueRefused
from testbed.spec import load

PROFILES = sorted((Path(__file__).parents[1] / "profiles").glob("*.yaml"))

MINIMAL = """\
name: one
about: A file to break.
citation:
  authors: [Somebody]
  title: Something
facts:
  rate:
    what: The rate
    value: 10 Gbit/s
    certainty: exact
    where: III
series:
  fall:
    what: Throughput
    over: rtt
    certainty: about
    where: Fig. 2
    points:
      - {at: 1 ms, value: 10 Gbit/s}
      - {at: 340 ms, at_most: 4 Gbit/s, certainty: bound}
"""


@pytest.fixture(scope="module")
def profiles() -> dict[str, PublishedProfile]:
    return {path.stem: published.load(path) for path in PROFILES}


def test_there_is_a_profile_for_each_source(profiles: dict[str, PublishedProfile]) -> None:
    assert set(profiles) == {
        "amazon-azure-2015",
        "cloudcmp-2010",
        "ec2-token-buckets-2020",
        "google-cloud-emulated",
        "physical-virtual-links-2015",
        "rfc9438",
        "s3-cloudfront-2016",
        "skyplane-2022",
    }


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_a_profile_is_called_like_its_file_and_cites_its_source(path: Path) -> None:
    profile = published.load(path)
    assert profile.name == path.stem
    assert profile.citation.authors
    assert profile.citation.title


FACTS = {
    "amazon-azure-2015": {
        "tcp-mean-amazon": (77.8e6, "bit/s", "exact"),
        "tcp-mean-azure": (118.2e6, "bit/s", "exact"),
        "tcp-max-amazon": (171.6e6, "bit/s", "exact"),
        "tcp-max-azure": (284.5e6, "bit/s", "exact"),
        "tcp-p75-amazon": (99e6, "bit/s", "exact"),
        "tcp-p5-azure": (57e6, "bit/s", "exact"),
        "tcp-min-amazon": (1e6, "bit/s", "about"),
        "tcp-cov-p95": (0.2, "ratio", "about"),
        "rtt-mean-amazon": (0.19394, "s", "exact"),
        "rtt-mean-azure": (0.21461, "s", "exact"),
        "rtt-eu-ap-amazon": (0.201, "s", "exact"),
        "rtt-eu-ap-azure": (0.315, "s", "exact"),
        "step-high": (850e6, "bit/s", "about"),
        "step-low": (400e6, "bit/s", "about"),
        "step-time": (100, "s", "about"),
        "run-length": (300, "s", "exact"),
        "cited-feng-rtt-mean": (0.3491, "s", "cited"),
    },
    "s3-cloudfront-2016": {
        "goodput-us": (3562 * 8192, "bit/s", "exact"),
        "goodput-eu": (2791 * 8192, "bit/s", "exact"),
        "goodput-sa": (1445 * 8192, "bit/s", "exact"),
        "goodput-ap": (2018 * 8192, "bit/s", "exact"),
        "goodput-us-from-us": (5453 * 8192, "bit/s", "exact"),
        "goodput-ap-from-ap": (3573 * 8192, "bit/s", "exact"),
        "near-gain-mean": (0.4436, "ratio", "exact"),
        "cdn-gain-1mib": (2.7469, "ratio", "exact"),
        "cdn-gain-100mib": (1.0465, "ratio", "exact"),
        "cdn-worst": (-0.4359, "ratio", "exact"),
        "cov-s3": (0.38, "ratio", "exact"),
        "cov-cloudfront": (0.26, "ratio", "exact"),
        "clients": (77, "sites", "exact"),
    },
    "cloudcmp-2010": {
        "nic": (1e9, "bit/s", "exact"),
        "example-bdp": (5e6, "B", "exact"),
        "linux-window-max": (4e6, "B", "exact"),
        "linux-window-limit": (640e6, "bit/s", "derived"),
        "queue-slow": (0.2, "ratio", "about"),
        "wide-area-sites": (260, "sites", "exact"),
    },
    "google-cloud-emulated": {
        "capacity": (10e9, "bit/s", "exact"),
        "cloud-buffer": (250e6, "B", "exact"),
        "iperf-window": (2e9, "B", "exact"),
        "emulated-rtt-max": (0.376, "s", "exact"),
        "loss-largest": (1 / 500, "ratio", "exact"),
        "loss-noticeable": (1e-5, "ratio", "exact"),
        "cloud-80ms": (7.96e9, "bit/s", "exact"),
        "cloud-81ms": (9.72e9, "bit/s", "exact"),
        "emulated-1-flow-max": (3.22e9, "bit/s", "exact"),
        "emulated-10-flows-max": (6.44e9, "bit/s", "about"),
        "emulated-1-flow-fig7": (1.407e9, "bit/s", "exact"),
        "emulated-10-flows-fig7": (3.923e9, "bit/s", "exact"),
        "c-uc-near-optimal": (0.7, "ratio", "about"),
    },
    "physical-virtual-links-2015": {
        "run-length": (30, "s", "exact"),
        "repetitions": (10, "runs", "exact"),
        "check-captured": (13.598e6, "bit/s", "exact"),
        "check-frames": (34927, "frames", "exact"),
        "gigabit-limit": (3395 * 2**20, "B", "derived"),
    },
}
VALUES = [(name, key, *fact) for name, facts in FACTS.items() for key, fact in facts.items()]


@pytest.mark.parametrize(("name", "key", "value", "unit", "certainty"), VALUES)
def test_a_printed_number_is_what_the_paper_has(
    profiles: dict[str, PublishedProfile], name: str, key: str, value: float, unit: str, certainty: str
) -> None:
    fact = profiles[name].facts[key]
    assert fact.value is not None
    assert (fact.value.value, fact.value.unit, fact.certainty) == (pytest.approx(value), unit, certainty)


LIMITS = [
    ("amazon-azure-2015", "tcp-min-azure", 13e6, None),
    ("amazon-azure-2015", "tcp-degraded", None, 10e6),
    ("amazon-azure-2015", "udp-us-eu", 800e6, None),
    ("amazon-azure-2015", "step-volume", 8e9, 10e9),
    ("amazon-azure-2015", "zones-cv-rmse", None, 0.2),
    ("amazon-azure-2015", "cited-feng-tcp", 9.6e6, 545.1e6),
    ("s3-cloudfront-2016", "cdn-gain-max-1mib", None, 7630 * 8192),
    ("cloudcmp-2010", "inter-median-c1", 200e6, None),
    ("cloudcmp-2010", "intra-rtt", None, 0.002),
    ("google-cloud-emulated", "cloud-rtt-longest", 0.3403, 0.361),
    ("google-cloud-emulated", "emulated-1in500", None, 500e6),
    ("physical-virtual-links-2015", "jitter", None, 0.001),
]


@pytest.mark.parametrize(("name", "key", "low", "high"), LIMITS)
def test_a_printed_limit_is_what_the_paper_has(
    profiles: dict[str, PublishedProfile], name: str, key: str, low: float | None, high: float | None
) -> None:
    fact = profiles[name].facts[key]
    assert fact.value is None
    found = [number and number.value for number in (fact.at_least, fact.at_most)]
    assert found == [None if limit is None else pytest.approx(limit) for limit in (low, high)]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("amazon-azure-2015", "tcp-pair-means"),
        ("amazon-azure-2015", "rtt-other-pairs"),
        ("s3-cloudfront-2016", "goodput-small"),
        ("cloudcmp-2010", "intra-tcp"),
        ("cloudcmp-2010", "inter-median-c2"),
        ("google-cloud-emulated", "c-uc-by-loss"),
        ("physical-virtual-links-2015", "linux-by-ram"),
    ],
)
def test_what_only_a_figure_holds_stays_unknown(profiles: dict[str, PublishedProfile], name: str, key: str) -> None:
    fact = profiles[name].facts[key]
    assert fact.certainty == "unknown"
    assert [*fact.numbers] == []
    assert fact.unit is not None


TRANSFERS = {  # mean and sd in MiB at 4, 8, 16 and 64 KiB
    "physical-cisco": [(772.6, 16.85), (1798, 6), (1835, 5), (2793, 9)],
    "physical-juniper": [(788.5, 3.41), (1820, 30.66), (1820, 10), (2725, 33.54)],
    "physical-d-link": [(814.9, 33.64), (1824, 23.75), (1831, 3), (2800, 16.73)],
    "virtual-linux-1gb": [(991.9, 18.9), (1700, 44.5), (4059, 109.3), (10980, 218.2)],
    "virtual-linux-2gb": [(994, 12.6), (1779, 31.4), (4101, 85.5), (10800, 352.1)],
    "virtual-xp-1gb": [(2007, 7.8), (2014, 20.1), (2424, 14.3), (3612, 64.2)],
    "virtual-xp-2gb": [(2000, 28.3), (2013, 22.8), (2401, 8.3), (3609, 76.7)],
    "sdn-linux": [(447.7, 13.6), (765.5, 13.7), (1646, 49.8), (4127, 64.8)],
    "sdn-xp": [(1280, 31.9), (1281, 17), (1559, 16.4), (2259, 54.9)],
    "physical-mean": [(792, 27.9), (1814, 25.4), (1829, 9.2), (2773, 40.5)],
    "bridged": [(949.1, 4.3), (952, 1.1), (1321, 15.1), (1768, 10.7)],
    "mininet": [(2054, 8), (2244, 6.6), (2980, 242.4), (3284, 12.8)],
}


def transfers(series: Series) -> list[tuple[float, float | None]]:
    """Mean and sd of each point, in MiB."""
    return [
        (point.value.value / 2**20, point.sd and point.sd.value / 2**20)
        for point in series.points
        if point.value is not None
    ]


@pytest.mark.parametrize(("key", "rows"), TRANSFERS.items(), ids=TRANSFERS)
def test_the_transfers_are_those_of_tables_2_to_5(
    profiles: dict[str, PublishedProfile], key: str, rows: list[tuple[float, float]]
) -> None:
    series = profiles["physical-virtual-links-2015"].series[key]
    assert [point.at.value for point in series.points] == [4096, 8192, 16384, 65536]
    assert transfers(series) == [pytest.approx(row) for row in rows]


def test_the_pooled_baseline_follows_from_the_three_switches_with_population_sds(
    profiles: dict[str, PublishedProfile],
) -> None:
    series = profiles["physical-virtual-links-2015"].series
    switches = [transfers(series[f"physical-{name}"]) for name in ("cisco", "juniper", "d-link")]
    for row, (mean, sd) in zip(zip(*switches, strict=True), transfers(series["physical-mean"]), strict=True):
        means, sds = [each[0] for each in row], [each[1] or 0 for each in row]
        within, between = statistic.mean([one**2 for one in sds]), statistic.population_sd(means) ** 2
        assert statistic.mean(means) == pytest.approx(mean, abs=1)
        assert (within + between) ** 0.5 == pytest.approx(sd, abs=0.1)


@pytest.mark.parametrize(("key", "rtt_s"), [("cubic-100ms", 0.1), ("cubic-10ms", 0.01)])
def test_the_windows_of_rfc_9438_are_those_of_the_model(
    profiles: dict[str, PublishedProfile], key: str, rtt_s: float
) -> None:
    points = profiles["rfc9438"].series[key].points
    assert len(points) == 7
    for point in points:
        assert point.value is not None
        assert point.value.value == round(tcp_model.cubic_window_segments(point.at.value, rtt_s))


def test_a_series_over_rtt_is_a_throughput_profile_of_the_points_that_are_known(
    profiles: dict[str, PublishedProfile],
) -> None:
    series = profiles["google-cloud-emulated"].series
    known = series["emulated-cubic-1-flow"].throughput_profile()
    assert (known.rtt_s, known.mean_bps) == ((0.376,), (1.4e9,))
    cloud = series["cloud-cubic-1-flow"]
    assert cloud.throughput_profile().mean_bps == (10e9, 4e9)
    assert cloud.capacity is not None
    assert cloud.capacity.value == 10e9
    with pytest.raises(UserError, match="no point whose certainty is exact"):
        cloud.throughput_profile(("exact",))


def test_a_series_over_something_else_is_no_throughput_profile(profiles: dict[str, PublishedProfile]) -> None:
    with pytest.raises(UserError, match="not throughput over RTT"):
        profiles["rfc9438"].series["reno-10ms"].throughput_profile()


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("77.8 Mbit/s", 77.8e6, "bit/s"),
        ("3562 KiB/s", 3562 * 1024 * 8, "bit/s"),
        ("193.94 ms", 0.19394, "s"),
        ("7 d", 604_800, "s"),
        ("772.6 MiB", 772.6 * 2**20, "B"),
        ("-43.59 %", -0.4359, "ratio"),
        ("2.0e-10 ratio", 2e-10, "ratio"),
        ("12 segments", 12, "segments"),
        ("6 orders of magnitude", 6, "orders of magnitude"),
    ],
)
def test_numbers_come_out_in_base_units(text: str, value: float, unit: str) -> None:
    number = parse_number(text)
    assert (number.value, number.unit, number.text) == (pytest.approx(value, rel=1e-15), unit, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("77.8", "'77.8' has no unit"),
        ("77.8 Mbps", "unknown unit 'Mbps'"),
        ("about 77 Mbit/s", "is not a number"),
        ("nan Mbit/s", "is not a number"),
        ("", "is not a number"),
    ],
)
def test_a_number_without_a_known_unit_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueRefused, match=said):
        parse_number(text)


def test_the_file_that_the_next_test_breaks_is_fine(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(MINIMAL)
    profile = published.load(file)
    assert profile.series["fall"].certainty_of(profile.series["fall"].points[0]) == "about"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("value: 10 Gbit/s\n", "value: 10\n", 9, "'10' has no unit"),
        ("value: 10 Gbit/s\n", "value: 10 Gbps\n", 9, "unknown unit 'Gbps'"),
        ("    value: 10 Gbit/s\n", "", 7, "there is no number"),
        ("value: 10 Gbit/s\n", "value: 10 Gbit/s\n    at_most: 2 Gbit/s\n", 7, "a value and a limit"),
        ("certainty: exact", "certainty: sure", 10, "'sure' is not known"),
        ("certainty: exact", "certainty: bound", 9, "a bound has no value"),
        ("certainty: exact", "certainty: unknown", 7, "an unknown value has no number"),
        ("    value: 10 Gbit/s\n    certainty: exact", "    certainty: unknown", 7, "it has no unit"),
        ("value: 10 Gbit/s\n", "value:\n", 9, "has no value"),
        ("    where: III\n", "", 7, "the key 'where' is missing"),
        ("what: The rate", "sense: The rate", 8, "unknown key 'sense'"),
        ("{at: 1 ms,", "{at: 340 ms,", 20, "two points at 340 ms"),
        ("{at: 1 ms,", "{at: 1 MiB,", 20, "this is in s and others are in B"),
        (
            "{at: 1 ms, value: 10 Gbit/s}",
            "{at: 1 ms, value: 10 MiB}",
            20,
            "this is in bit/s and others are in B",
        ),
        ("{at: 1 ms, value: 10 Gbit/s}", "{at: 1, value: 10 Gbit/s}", 19, "'1' has no unit"),
        (
            ", certainty: bound}",
            ", sd: 1 Gbit/s, certainty: bound}",
            20,
            "an sd needs a value",
        ),
        ("authors: [Somebody]", "authors: []", 4, "this is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_file_and_line(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    file = tmp_path / "one.yaml"
    assert MINIMAL.count(old) == 1
    file.write_text(MINIMAL.replace(old, new))
    with pytest.raises(SpecError) as caught:
        published.load(file)
    assert any(
        str(problem).startswith(f"{file}:{line}: ") and said in str(problem) for problem in caught.value.problems
    ), str(caught.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        published.load(tmp_path / "none.yaml")


def test_the_format_has_a_schema() -> None:
    assert "facts" in published.schema()["properties"]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("1.40 Gbit/s", 1e7), ("4 Gbit/s", 1e9), ("3562 KiB/s", 8192), ("-43.59 %", 1e-4), ("7 d", 86_400),
        ("2.0e-10 ratio", 1e-11), ("20e3 runs", 1e3), ("1.5E2 ms", 1e-2),
    ],
)  # fmt: skip
def test_the_last_digit_is_a_unit_of_the_place_that_is_written(text: str, step: float) -> None:
    assert parse_number(text).last_digit == pytest.approx(step, rel=1e-12)


def test_a_number_is_refused_with_an_example_of_one() -> None:
    example = "a number with its unit, such as '77.8 Mbit/s'"
    for text, allowed in (
        ("x", f"'x' is not a number; allowed: {example}"),
        ("7", f"'7' has no unit; allowed: {example}; 'ratio' if it has no dimension"),
        ("7 Gbit/z", "did you mean 'Gbit/s'?"),
    ):
        with pytest.raises(ValueRefused) as caught:
            parse_number(text)
        assert allowed in f"{caught.value.what}; allowed: {caught.value.allowed}"


@pytest.mark.parametrize(
    ("new", "certainty", "what", "allowed", "at"),
    [
        ({}, "exact", "there is no number", "value, at_least, at_most, or 'certainty: unknown'", ()),
        ({"value": "1 s"}, "unknown", "an unknown value has no number", "another certainty, or no number", ()),
        ({"at_most": "1 s"}, "unknown", "an unknown value has no number", "another certainty, or no number", ()),
        (
            {"value": "1 s", "at_least": "1 s"},
            "exact",
            "there are a value and a limit",
            "value alone, or at_least and at_most",
            (),
        ),
        (
            {"value": "1 s", "at_most": "1 s"},
            "exact",
            "there are a value and a limit",
            "value alone, or at_least and at_most",
            (),
        ),
        ({"value": "1 s"}, "bound", "a bound has no value", "at_least, at_most, or both", ("value",)),
        ({"at_most": "1 s", "sd": "1 s"}, "bound", "an sd needs a value", "a value", ("sd",)),
        ({"at_most": "1 s", "plus_minus": "1 s"}, "bound", "a plus_minus needs a value", "a value", ("plus_minus",)),
        (
            {"value": "1 s", "sd": "1 s", "runs": 1},
            "exact",
            "one run has no sd, and several have one",
            "'runs: 1', or runs with an sd",
            ("runs",),
        ),
        (
            {"value": "1 s", "runs": 2},
            "exact",
            "one run has no sd, and several have one",
            "'runs: 1', or runs with an sd",
            ("runs",),
        ),
        (
            {"value": "1 s", "plus_minus": "-1 s"},
            "exact",
            "'-1 s' is no distance",
            "0 or more, in s or %",
            ("plus_minus",),
        ),
        (
            {"value": "1 s", "plus_minus": "1 B"},
            "exact",
            "'1 B' is no distance",
            "0 or more, in s or %",
            ("plus_minus",),
        ),
        ({"value": "1 B"}, "exact", "this is in B and others are in s", "in s", ("value",)),
        ({"at_least": "1 s", "at_most": "1 B"}, "bound", "this is in B and others are in s", "in s", ("at_most",)),
    ],
)
def test_what_contradicts_itself_is_refused_at_its_key_with_what_is_allowed(
    new: dict[str, object], certainty: Certainty, what: str, allowed: str, at: tuple[str, ...]
) -> None:
    with pytest.raises(ValueRefused) as caught:
        read(Measure, new).refuse_unless(certainty, "s")
    assert (caught.value.what, caught.value.allowed, caught.value.at) == (what, allowed, at)


@pytest.mark.parametrize(
    ("new", "certainty"),
    [
        ({"value": "1 s"}, "exact"),
        ({"value": "1 s", "runs": 1}, "exact"),
        ({"value": "1 s", "sd": "1 s", "runs": 2}, "about"),
        ({"value": "1 s", "plus_minus": "0 s"}, "exact"),
        ({"value": "1 s", "plus_minus": "5 %"}, "exact"),
        ({"at_least": "1 s"}, "bound"),
        ({"at_least": "1 s", "at_most": "2 s"}, "exact"),
        ({}, "unknown"),
    ],
)
def test_what_is_consistent_is_taken(new: dict[str, object], certainty: Certainty) -> None:
    read(Measure, new).refuse_unless(certainty, "s")


POINT = "      - {at: 1 ms, value: 10 Gbit/s}\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (POINT, POINT.replace("1 ms", "-1 ms"), ("19", "at: '-1 ms' is negative", "0 or more")),
        (POINT, POINT.replace("10 G", "-10 G"), ("19", "value: '-10 Gbit/s' is negative", "0 or more")),
        (POINT, f"{POINT}{POINT}", ("20", "at: there are two points at 1 ms", "each once")),
        ("at: 340 ms", "at: 3 MiB", ("20", "at: this is in B and others are in s", "in s")),
        (
            "    certainty: about",
            "    certainty: about\n    capacity: 1 ms",
            ("17", "capacity: '1 ms' is no rate", "1 bit/s or more"),
        ),
        (
            "    certainty: about",
            "    certainty: about\n    capacity: 0.5 bit/s",
            ("17", "capacity: '0.5 bit/s' is no rate", "1 bit/s or more"),
        ),
        (
            "    value: 10 Gbit/s\n    certainty: exact",
            "    certainty: unknown",
            ("7", "it has no unit", "'unit: Mbit/s' or the like"),
        ),
    ],
)
def test_what_is_wrong_with_a_point_is_said_at_its_line(
    tmp_path: Path, old: str, new: str, said: tuple[str, ...]
) -> None:
    file = tmp_path / "one.yaml"
    assert MINIMAL.count(old) == 1
    file.write_text(MINIMAL.replace(old, new))
    with pytest.raises(SpecError) as caught:
        published.load(file)
    line, what, allowed = said
    (problem,) = [str(each) for each in caught.value.problems if what in str(each)]
    assert problem.startswith(f"{file}:{line}: ")
    assert problem.endswith(f"{what}; allowed: {allowed}")


def test_a_rate_of_one_bit_per_second_is_a_rate(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(MINIMAL.replace("    certainty: about", "    certainty: about\n    capacity: 1 bit/s"))
    assert published.load(file).series["fall"].capacity == parse_number("1 bit/s")


def test_an_unknown_profile_is_refused_with_those_that_a_run_can_be_compared_with() -> None:
    with pytest.raises(UserError) as caught:
        published.find("none")
    said = f"there is no published profile 'none'; allowed: a file, or {', '.join(published.names())}"
    assert str(caught.value).partition(" (did you mean")[0] == said
    with pytest.raises(UserError, match="amazon-azure-2015 has no 'x'; allowed: tcp-mean-amazon, "):
        published.find("amazon-azure-2015#x")
    assert published.find("rfc9438")[1] is None
    assert published.find("rfc9438#cubic-10ms")[1] == "cubic-10ms"


@pytest.mark.parametrize(("key", "is_profile"), [("citation", 1), ("facts", 1), ("series", 1), ("nodes", 0)])
def test_a_file_that_cites_or_has_facts_or_series_is_meant_as_a_profile(
    tmp_path: Path, key: str, is_profile: int
) -> None:
    (tmp_path / "it.yaml").write_text(f"name: it\n{key}: {{}}\n")
    assert load.is_profile(tmp_path / "it.yaml") == bool(is_profile)
