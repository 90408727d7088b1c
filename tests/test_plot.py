"""Figures: every kind draws what it should of a stored run, and says what it cannot show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from storedruns import Made, trial_result, write_completions, write_run

from testbed.compare import published
from testbed.compare.profile import compare
from testbed.error import UserError
from testbed.report import stored_run
from testbed.report.caption import _workload, caption
from testbed.report.figure import (
    KINDS,
    cdf,
    cuc,
    draw,
    fct,
    heatmap,
    profile,
    published_profile,
    timeseries,
    topology,
    tradeoff,
    windows,
)
from testbed.report.figure.choice import chosen
from testbed.report.figure.option import Options, chosen_trial, part
from testbed.report.figure.style import COLOURS, LINES, MARKERS, legend, log_ticks, looks, plain_number
from testbed.trial.folder import write_json

CELLS = [(rtt, flows) for rtt in ("10 ms", "20 ms", "40 ms") for flows in (1, 2)]

OPTIONS = Options(metric="retransmits")


def made_run(folder: Path, **changes: object) -> Path:
    return write_run(
        folder,
        [
            Made({"path.rtt": rtt, "flows": str(flows), "window": window}, [8e7 / flows / (1 + seed)] * flows, seed)
            for rtt, flows in CELLS
            for window in ("4 KiB", "64 KiB")
            for seed in (1, 2)
        ],
    )


@pytest.fixture
def run(tmp_path: Path) -> stored_run.StoredRun:
    folder = made_run(tmp_path / "run")
    write_completions(folder)
    return stored_run.read(folder)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_with_axes_and_a_caption_that_repeats_it(
    kind: str, run: stored_run.StoredRun, tmp_path: Path
) -> None:
    draw(kind, run, tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert "testbed plot" in text
    assert "Specification" in text
    units = {
        "profile": "(ms)",
        "windows": "MB of 2",
        "cuc": "(ratio)",
        "cdf": "Mbit/s",
        "timeseries": "(s)",
        "fct": "(ms)",
        "tradeoff": "goodput (Mbit/s)",
    }
    assert units.get(kind, "net" if kind == "topology" else "Mbit/s") in text


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_the_ending_says_the_format_and_the_same_results_make_the_same_file(
    ending: str, magic: bytes, run: stored_run.StoredRun, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
    for path in paths:
        draw("profile", run, path)
    assert paths[0].read_bytes().startswith(magic)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_run_without_a_usable_trial_is_refused_but_its_network_is_drawn(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [Made({"path.rtt": "10 ms"}, [1e6], verdict="invalid")])
    for kind in ("profile", "windows", "cuc", "cdf", "heatmap"):
        with pytest.raises(UserError, match="no trial with a goodput"):
            draw(kind, stored_run.read(folder), tmp_path / "x.png")
    draw("topology", stored_run.read(folder), tmp_path / "x.png")


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("poem", Options(), "allowed: profile, windows, cuc, cdf, fct, tradeoff, timeseries, heatmap, topology"),
        ("timeseries", Options(trial="rtt=10ms"), "8 trials are"),
        ("timeseries", Options(trial="40 ms"), "8 trials are '40 ms'; allowed: rtt=40ms"),
        ("timeseries", Options(trial="poem"), "no trial is"),
        ("heatmap", Options(x="flows", y="flows"), "two parameters of"),
        ("heatmap", Options(x="poem"), "no parameter 'poem' varies"),
        ("cdf", Options(metric="poem"), "there is no metric"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    kind: str, options: Options, words: str, run: stored_run.StoredRun, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=words):
        draw(kind, run, tmp_path / "x.png", options)


@pytest.mark.parametrize("words", ["cubic,4", "4, cubic", "flows=4,congestion=cubic", "congestion=cubic,flows=4"])
def test_a_trial_is_named_by_its_id_by_parts_of_it_or_by_their_values(words: str, tmp_path: Path) -> None:
    """ "4" is no part of "flows=40"."""
    made = [Made({"congestion": name, "flows": flows}, [1e6]) for name in ("cubic", "bbr") for flows in ("4", "40")]
    found = chosen_trial(stored_run.read(write_run(tmp_path / "run", made)), Options(trial=words))
    assert found.id == "congestion=cubic,flows=4,seed=1"


JITTER = "distribution uniform, reorder True, most 1 ms"
TWO_RATES = [
    trial_result(Made({"left.rate": left, "right.rate": right, "right.jitter": jitter, "window": window}, [1e6], seed))
    for left in ("5 Mbit/s", "10 Mbit/s")
    for right in ("5 Mbit/s", "20 Mbit/s")
    for jitter in ("none", JITTER)
    for window in ("2304 B", "40 kB")
    for seed in (1, 2)
]


@pytest.mark.parametrize(
    ("words", "params"),
    [
        *((f"left.rate={rate}", {"left.rate": "5 Mbit/s"}) for rate in
          ("5 Mbit/s", "5Mbit/s", "5Mbit-s", "5000 kbit/s")),
        *((f"jitter={JITTER}{rest}", {"right.jitter": JITTER, **more}) for rest, more in (
            ("", {}), (",window=40000 B", {"window": "40 kB"}), (", 20 Mbit/s", {"right.rate": "20 Mbit/s"}))),
        (JITTER, {"right.jitter": JITTER}),
        ("right.rate=20Mbit-s,jitter=distributionuniform-reorderTrue-most1ms",
         {"right.rate": "20 Mbit/s", "right.jitter": JITTER}),
        ("right.jitter={most: 1 ms, reorder: true},2304 B", {"right.jitter": JITTER, "window": "2304 B"}),
        ("workload.window=40 kB, none", {"right.jitter": "none", "window": "40 kB"}),
    ],
)  # fmt: skip
def test_words_of_trials_are_written_as_in_tables_files_and_ids(words: str, params: Mapping[str, str]) -> None:
    assert chosen(TWO_RATES, words) == [each for each in TWO_RATES if params.items() <= each.params.items()]


def test_a_mapping_is_the_one_that_says_no_more_or_it_may_be_several() -> None:
    queues = ("type codel, target 5 ms", "type codel, target 5 ms, ecn true", "type codel, limit 9, ecn true")
    trials = [trial_result(Made({"path.queue": queue}, [1e6])) for queue in queues]
    assert chosen(trials, "queue={type: codel, target: 5 ms}") == trials[:1]
    with pytest.raises(UserError, match=r"'queue={ecn: true}' may mean several values; allowed: .*ms, ecn true, .*9"):
        chosen(trials, "queue={ecn: true}")


def test_a_mapping_of_one_thing_may_be_a_value_that_names_nothing_else() -> None:
    """A queue of {type: codel} is 'codel' in results."""
    trials = [trial_result(Made({"path.queue": queue}, [1e6])) for queue in ("codel", "type codel, ecn true")]
    with pytest.raises(UserError, match=r"several values; allowed: path.queue=codel, path.queue=type codel, ecn true"):
        chosen(trials, "queue={type: codel}")
    assert chosen(trials, "queue=codel") == trials[:1]
    assert chosen(trials[1:], "queue={type: codel}") == trials[1:]


def test_a_seed_and_an_id_choose_trials() -> None:
    assert {each.seed for each in chosen(TWO_RATES, "seed=2")} == {2}
    assert chosen(TWO_RATES, TWO_RATES[3].id) == [TWO_RATES[3]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("rate=5Mbit/s", "'rate=5Mbit/s' may mean several axes; allowed: left.rate=5 Mbit/s, right.rate=5 Mbit/s"),
        ("rate=10Mbit/s", "'rate=10Mbit/s' may mean several axes; allowed: left.rate=10 Mbit/s"),
        ("none,5 Mbit/s", "'5 Mbit/s' may mean several axes; allowed: left.rate=5 Mbit/s, right.rate=5 Mbit/s"),
        ("jitter=uniform", f"no trial is 'jitter=uniform'; allowed: right.jitter=none, right.jitter={JITTER}"),
        ("rtt=5", "no trial is 'rtt=5'; allowed: words of trials, such as left.rate=5 Mbit/s, right.rate=5 Mbit/s, "
         "right.jitter=none, window=2304 B"),
        ("window=40 kB,window=2304 B", "no trial is 'window=40 kB,window=2304 B'; allowed: values that occur together, "
         "of window=2304 B, window=40 kB"),
    ],
)  # fmt: skip
def test_words_that_no_axis_or_several_have_are_refused(words: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        chosen(TWO_RATES, words)
    assert str(refused.value) == said


def test_one_trial_alone_has_a_profile_but_no_coefficient_and_no_heat_map(tmp_path: Path) -> None:
    one = stored_run.read(write_run(tmp_path / "run", [Made({"path.rtt": "10 ms"}, [1e6])]))
    draw("profile", one, tmp_path / "x.png")
    with pytest.raises(UserError, match="two round-trip times"):
        draw("cuc", one, tmp_path / "x.png")
    with pytest.raises(UserError, match="no parameter has two values"):
        draw("heatmap", one, tmp_path / "x.png")


def test_a_format_that_is_unknown_and_a_place_that_is_not_there_are_refused(
    run: stored_run.StoredRun, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"allowed: \.svg, \.pdf, \.png"):
        draw("profile", run, tmp_path / "figure.gif")
    with pytest.raises(UserError, match="cannot be written"):
        draw("profile", run, tmp_path / "none" / "figure.png")


@pytest.mark.parametrize("power", range(-9, 13))
@pytest.mark.parametrize("ratio", [1.02, 1.1, 1.3, 2, 3, 10, 100, 1e4, 1e6])
def test_a_logarithmic_axis_has_three_plain_numbers_in_every_decade_and_range(power: int, ratio: float) -> None:
    for first in (1, 1.7, 3.3, 8.9, 9.5):
        low = first * 10.0**power
        ticks = log_ticks(low, low * ratio)
        assert 3 <= len(ticks) <= 24
        assert all(low * 0.999999 <= tick <= low * ratio * 1.000001 for tick in ticks)
        assert ticks == sorted(set(ticks))
        texts = [plain_number(tick) for tick in ticks]
        assert not any("e" in text for text in texts)
        assert len(set(texts)) == len(texts)
        assert [float(text) for text in texts] == pytest.approx(ticks, rel=1e-5)


@pytest.mark.parametrize(
    ("value", "text"),
    [(90, "90"), (1e6, "1000000"), (5e-5, "0.00005"), (0.25, "0.25"), (100, "100"), (1e-9, "0.000000001")],
)
def test_a_number_on_an_axis_has_no_power_of_ten(value: float, text: str) -> None:
    assert plain_number(value) == text


@pytest.mark.parametrize(("rtts", "angle"), [(("91 ms", "183 ms", "376 ms"), 0), (("1 ms", "274 ms", "376 ms"), 45)])
def test_numbers_of_an_axis_that_would_touch_are_turned(tmp_path: Path, rtts: tuple[str, ...], angle: int) -> None:
    write_run(tmp_path, [Made({"path.rtt": rtt}, [8e7], 1) for rtt in rtts])
    figure = Figure()
    profile.draw(figure, stored_run.read(tmp_path), Options())
    assert {label.get_rotation() for label in figure.axes[0].get_xticklabels()} == {angle}


def test_a_profile_of_one_rtt_is_a_bar_for_each_series(tmp_path: Path) -> None:
    made = [
        Made({"path.rtt": "10 ms", "congestion": control}, [rate], seed)
        for control, rate in (("cubic", 9e7), ("bbr", 8e7), ("reno", 4e7))
        for seed in (1, 2)
    ]
    figure = Figure()
    profile.draw(figure, stored_run.read(write_run(tmp_path / "run", made)), Options())
    (axes,) = figure.axes
    assert sorted(bar.get_width() for bar in axes.patches) == pytest.approx([40, 80, 90])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["cubic", "bbr", "reno"]
    assert axes.get_xlim()[0] == 0


def test_goodput_is_set_against_the_round_trip_time_under_load_of_each_trial(run: stored_run.StoredRun) -> None:
    figure = Figure()
    tradeoff.draw(figure, run, Options())
    points = [line for axes in figure.axes for line in axes.get_lines() if "(n = " in str(line.get_label())]
    assert len(points) == 3 * sum(1 for each in run.series if each.trials)  # RTTs
    assert all(len(line.get_xdata()) == 1 for line in points)
    assert {axes.get_xlabel() for axes in figure.axes if axes.has_data()} == {
        "95 % quantile of the RTT under load (ms): less is better\n"
        "small marks: trials; large ones: their means over the seeds"
    }


@pytest.mark.parametrize("metric", ["goodput", "poem"])
def test_goodput_is_set_against_another_metric(metric: str, run: stored_run.StoredRun) -> None:
    with pytest.raises(UserError, match="to set goodput against; allowed: "):
        tradeoff.draw(Figure(), run, Options(metric=metric))


def test_slowdowns_by_size_have_plain_numbers_and_name_the_series(run: stored_run.StoredRun) -> None:
    figure = Figure(layout="constrained")
    fct.draw(figure, run, Options())
    figure.canvas.draw()
    right = figure.axes[1]
    ticks = [label.get_text() for label in right.get_yticklabels()]
    assert len(ticks) >= 3
    assert all(float(text) > 0 for text in ticks)
    words = [text.get_text() for text in right.get_legend().get_texts()]
    assert words[-2:] == ["median", "99 %"]
    assert len(words) > 2


def swept(folder: Path, sizes: Sequence[int], seeds: int = 2) -> stored_run.StoredRun:
    """A run over the RTT, and as many values of other parameters."""
    names = ("path.rtt", "path.loss", "congestion", "flows", "buffer", "nic")
    values = [[f"{10 * (number + 1)} ms" if name == "path.rtt" else f"{number + 1}" for number in range(size)]
              for name, size in zip(names, sizes, strict=False)]  # fmt: skip
    cells = [dict(zip(names, each, strict=False)) for each in product(*values)]
    made = [
        Made(cell, [1e7 + 1e4 * number + seed], seed, retransmits=10 * number + seed)
        for number, cell in enumerate(cells)
        for seed in range(1, seeds + 1)
    ]
    run = stored_run.read(write_run(folder, made, samples=False))
    write_completions(folder)
    return run


def shown(axes: Axes) -> list[tuple[object, ...]]:
    """Of all that the legend names: its colour, line and mark."""
    return [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in axes.get_lines()
            if not str(line.get_label()).startswith("_")]  # fmt: skip


@pytest.mark.parametrize(
    "sizes",
    [(1, 8), (2, 2, 2), (3, 2, 2, 2), (2, 3, 3), (1, 2, 2, 2, 2), (1, 28), (1, 9, 2), (1, 5, 5), (2, 2, 2, 2, 2, 2)],
)
def test_every_series_of_a_figure_has_a_look_of_its_own(sizes: Sequence[int], tmp_path: Path) -> None:
    run = swept(tmp_path / "run", sizes)
    for kind in (cdf, tradeoff, fct, profile):
        figure = Figure()
        kind.draw(figure, run, OPTIONS)
        panels = [each for each in figure.axes if each.has_data()]
        labels: list[str] = []
        for axes in panels if kind is not fct else panels[::2]:
            looks = shown(axes)
            assert len(looks) == len({*looks})
            labels += [str(each.get_label()) for each in axes.get_lines()]
        if kind is not profile:
            assert sum("(n = " in each for each in labels) == len({tuple(each.params.items()) for each in run.results})
    if sizes[0] > 1:
        figure = Figure()
        cuc.draw(figure, run, Options())
        named = [each[0] for each in figure.axes[0].containers]
        assert len({(each.get_color(), each.get_linestyle(), each.get_marker()) for each in named}) == len(named)


@pytest.mark.parametrize("has_all", [True, False])
def test_two_values_of_a_parameter_differ_in_what_every_figure_shows(has_all: bool) -> None:
    for sizes in ((2, 2, 2), (7, 4), (3, 2, 2), (28,), (9, 3), (1, 8), (2, 2, 2, 2)):
        (found,) = looks([product(*([str(each) for each in range(size)] for size in sizes))], has_all)
        pairs = [{(colour, line) for colour, line, _ in found.values()}, {(c, mark) for c, _, mark in found.values()}]
        assert len({*found.values()}) == len(found)
        assert has_all or all(len(each) == len(found) for each in pairs)
    first = {colour for (a, _, _), (colour, _, _) in looks([product("ab", "cd", "ef")])[0].items() if a == "a"}
    assert len(first) == 1  # what the legend tells first has the colour
    assert (len(LINES), len(MARKERS)) == (4, 8)


@pytest.mark.parametrize("has_all", [True, False])
@pytest.mark.parametrize(
    ("panels", "meanings"),
    [
        ((range(14), range(14, 28)), 28),
        ((range(20), [0, *range(29, 48)]), 39),
        ((range(28), range(28, 56)), 56),
        ((range(28), [*range(27), 28], [27, 28]), 30),
    ],
    ids=["as many looks as values", "one value in both", "no value in both", "one value with two looks"],
)
def test_a_look_is_of_one_series_in_its_panel_and_means_the_same_in_all_where_that_is_possible(
    panels: Sequence[Iterable[int]], meanings: int, has_all: bool
) -> None:
    found = looks([[(str(value),) for value in panel] for panel in panels], has_all)
    for panel in found:
        assert len({*panel.values()}) == len(panel)
        assert has_all or all(len({(look[0], look[part]) for look in panel.values()}) == len(panel) for part in (1, 2))
    pairs = {pair for panel in found for pair in panel.items()}
    assert len(pairs) == (len({value for value, _ in pairs}) if has_all else meanings)
    assert len({look for _, look in pairs}) == len(pairs) or meanings > 28


@pytest.mark.parametrize(("colours", "is_one"), [(["red", "blue"], True), (["red", "red"], False)])
def test_panels_whose_looks_mean_several_things_have_a_legend_each(colours: Sequence[str], is_one: bool) -> None:
    figure = Figure(layout="constrained")
    for number, (axes, colour) in enumerate(zip(figure.subplots(1, 2), colours, strict=True)):
        axes.plot([1], [1], color=colour, label=f"window {number} B")
    legend(figure, figure.axes)
    assert (len(figure.legends), [axes.get_legend() is not None for axes in figure.axes]) == (is_one, [not is_one] * 2)


def test_more_series_than_looks_are_refused_and_it_is_said_how_to_choose(tmp_path: Path) -> None:
    run = swept(tmp_path / "run", (1, 29), seeds=1)
    for kind in (cdf, tradeoff):
        with pytest.raises(UserError, match=r"29 series .*allowed: at most 28, such as those of --where .*loss=1"):
            kind.draw(Figure(), run, OPTIONS)
    kind.draw(Figure(), part(run, Options(where="loss=3")), OPTIONS)


def test_rtts_are_not_pooled_unless_the_axis_says_so(tmp_path: Path) -> None:
    run = swept(tmp_path / "few", (2, 1))
    for kind in (cdf, tradeoff, fct):
        figure = Figure()
        kind.draw(figure, run, OPTIONS)
        words = [str(line.get_label()) for line in figure.axes[0].get_lines()]
        assert [each.partition(" (")[0] for each in words if "(n = " in each] == ["RTT 10 ms", "RTT 20 ms"]
    many = swept(tmp_path / "many", (13, 3))
    for kind in (cdf, tradeoff, fct):
        figure = Figure()
        kind.draw(figure, many, OPTIONS)
        said = "trials at 13 RTTs together, 10 ms to 130 ms; --where 'path.rtt=10 ms' takes one"
        assert figure.axes[0].get_xlabel().endswith(said)
        assert kind is not tradeoff or not any(line.get_markersize() > 4 for line in figure.axes[0].get_lines())


def test_large_marks_are_means_over_seeds_and_it_is_said(tmp_path: Path) -> None:
    figure = Figure()
    tradeoff.draw(figure, swept(tmp_path / "run", (2, 2)), OPTIONS)
    (axes,) = figure.axes
    trials = {tuple(x) for line in axes.get_lines() if len(line.get_xdata()) > 1 for x in [line.get_xdata()]}
    means = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1]
    assert len(trials) == len(means) == 4
    assert all(any(min(each) <= mean <= max(each) for each in trials) for mean in means)
    assert axes.get_xlabel().endswith("large ones: their means over the seeds")


def test_a_part_of_the_trials_is_drawn_and_the_caption_is_of_it(tmp_path: Path) -> None:
    run = swept(tmp_path / "run", (2, 3, 2))
    found = part(run, Options(where="20 ms, loss=3"))
    assert {tuple(each.params.values()) for each in found.results} == {("20 ms", "3", "1"), ("20 ms", "3", "2")}
    assert found.missing == 0
    assert found.trials.keys() == {each.id for each in found.results}
    draw("cdf", run, tmp_path / "x.svg", Options(where="20 ms, loss=3"))
    text = " ".join((tmp_path / "x.svg").read_text().split())
    assert "4 trials" in text
    assert "--where" in text
    with pytest.raises(UserError, match=r"no trial is 'loss=4'; allowed: path\.loss=1, path\.loss=2, path\.loss=3$"):
        draw("cdf", run, tmp_path / "x.svg", Options(where="loss=4"))


def test_a_caption_names_every_kernel_and_version_and_its_command_can_be_pasted(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "my run", [Made({"path.rtt": f"{rtt} ms"}, [1e6]) for rtt in (10, 20, 30)])
    for number, each in enumerate(stored_run.read(folder).results):
        write_json(folder / "trials" / each.id / "provenance.json", {"testbed": f"0.{min(number, 1)}"})
    said = caption(stored_run.read(folder), "profile")
    assert re.search(r"Kernel lab \S+; testbed 0\.0 \| Kernel lab \S+; testbed 0\.1\.", said)
    assert f"testbed run --repeat '{folder}'/trials/ID" in said


def test_a_caption_names_programs_in_words() -> None:
    client = {"name": "curl", "run": ["curl", "-s"], "env": {}, "user": None, "pause": "0 s", "runs": 0}
    settings = {"params": {}, "workload": {"tool": "command", "from": "a", "to": "b", "client": [client]}}
    assert _workload(settings) == "Workload command a → b, client name curl run curl, -s pause 0 s runs 0"


def test_the_median_and_the_99th_percentile_of_one_size_differ(run: stored_run.StoredRun) -> None:
    figure = Figure()
    fct.draw(figure, run, Options())
    drawn = [line for line in figure.axes[1].get_lines() if len(line.get_xdata()) > 1]
    median, most = drawn[:2]
    assert median.get_color() == most.get_color()
    assert median.get_markerfacecolor() != most.get_markerfacecolor() == "none"


def of_windows(folder: Path, sizes: Mapping[str, float], seeds: int, rows: int = 2) -> Figure:
    made = [
        Made({"window": window, "flows": str(flows)}, [1e6 * rate / flows + 1e5 * seed] * flows, seed)
        for flows in range(1, rows + 1)
        for window, rate in sizes.items()
        for seed in range(1, seeds + 1)
    ]
    figure = Figure()
    windows.draw(figure, stored_run.read(write_run(folder, made, samples=False)), Options())
    return figure


def test_one_trial_has_no_sd_and_several_say_how_many(tmp_path: Path) -> None:
    for seeds, words in ((1, "one trial each, so there is no sd"), (3, "repetitions, n = 3")):
        bars, table = of_windows(tmp_path / str(seeds), {"4 KiB": 10, "8 KiB": 20}, seeds).axes
        (cells,) = table.tables
        assert table.get_title(loc="left").endswith(words)
        assert all(("(" in cell.get_text().get_text()) == (seeds > 1) for (row, column), cell in
                   cells.get_celld().items() if row > 0 <= column)  # fmt: skip
        assert sum(len(each.get_segments()) for each in bars.collections) == (0 if seeds == 1 else 4)


def test_a_bar_begins_at_0_and_on_a_logarithmic_axis_there_are_marks(tmp_path: Path) -> None:
    bars = of_windows(tmp_path / "near", {"4 KiB": 10, "8 KiB": 20}, 2).axes[0]
    assert (len(bars.patches), bars.get_yscale(), bars.get_ylim()[0]) == (4, "linear", 0)
    marks = of_windows(tmp_path / "far", {"4 KiB": 1, "64 MiB": 900}, 2).axes[0]
    assert (len(marks.patches), marks.get_yscale()) == (0, "log")
    assert {str(line.get_marker()) for line in marks.get_lines()} >= {*MARKERS[:2]}


def test_rows_without_bars_are_counted(tmp_path: Path) -> None:
    bars = of_windows(tmp_path / "run", {"4 KiB": 10, "8 KiB": 20}, 1, rows=10).axes[0]
    assert bars.get_title(loc="left") == "the first 8 of 10 rows of the table; --where chooses others"


def test_a_heat_map_says_what_its_means_are_over(tmp_path: Path) -> None:
    figure = Figure()
    heatmap.draw(figure, swept(tmp_path / "run", (2, 2, 3, 1)), Options())
    assert figure.axes[0].get_title(loc="left") == "means over congestion 1, 2, 3"
    figure = Figure()
    bound = [Made({"path.rtt": rtt, "duration": f"{rtt[0]} s", "flows": flows}, [1e7])
             for rtt in ("10 ms", "20 ms") for flows in "12"]  # fmt: skip
    heatmap.draw(figure, stored_run.read(write_run(tmp_path / "bound", bound)), Options(x="rtt", y="flows"))
    assert figure.axes[0].get_title(loc="left") == ""


def test_marks_of_drops_have_no_colour_of_a_flow_or_a_queue(run: stored_run.StoredRun) -> None:
    assert timeseries.DROP_COLOUR not in COLOURS


def test_the_facts_of_a_steep_link_stand_at_its_side(run: stored_run.StoredRun) -> None:
    for end, (ha, va) in (((1, 3), ("left", "center")), ((3, 1), ("center", "top")), ((0, 3), ("left", "center"))):
        axes = Figure().subplots()
        spots = [topology.Spot("a", "host", *place) for place in ((0, 0), end)]
        topology._line(axes, topology.Line("wan", ("a", "b"), 0.0, False, (), ()), *spots, is_told=True)
        (words,) = axes.texts
        assert (words.get_ha(), words.get_va()) == (ha, va)
        assert words.get_bbox_patch().get_alpha() in (None, 1)


def test_a_folder_that_cannot_be_written_is_named(run: stored_run.StoredRun, tmp_path: Path) -> None:
    def write(path: Path, data: bytes) -> None:
        raise OSError(30, "Read-only file system", "x")

    words = f"cannot be written in the folder {tmp_path}: Read-only file system; allowed: -o with a file in a folder"
    with pytest.raises(UserError, match=words) as found:
        draw("heatmap", run, tmp_path / "figure.svg", write=write)
    assert "Errno" not in str(found.value)


def test_published_series_have_marks_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    series = [f"""
  s{number}: {{what: x, of: {{}}, over: rtt, certainty: exact, where: x, points: [{{at: 10 ms, value: 9 Mbit/s}}]}}"""
              for number in range(20)]  # fmt: skip
    path = tmp_path / "p.yaml"
    path.write_text("name: p\nabout: x\ncitation: {authors: [We], title: x}\nseries:" + "".join(series) + "\n")
    run = stored_run.read(write_run(tmp_path / "run", [Made({"path.rtt": "10 ms"}, [9e6], seed) for seed in (1, 2)]))
    drawn: list[Axes] = []
    monkeypatch.setattr(Axes, "legend", lambda axes, **_: drawn.append(axes))
    published_profile.draw(compare(run.series, published.load(path)), tmp_path / "x.svg")
    marks = [each[0] for each in drawn[0].containers if str(each.get_label()).startswith("published")]
    assert len(marks) == len({(each.get_color(), each.get_marker()) for each in marks}) == 20
