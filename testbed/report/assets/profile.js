// The throughput profile: goodput over the round-trip time, with theory and what was published over it.
const OVERLAYS = ["line rate", "window limit", "square-root law", "CUBIC average"];

function profileChart(data, filter) {
  const visible = () => data.series.filter((one) => one.points.length && filter.passes(one.params));
  const rttKey = data.keys.find((key) => key.is_rtt);
  const rtts = [...new Set(data.series.flatMap((one) => one.points.map((point) => point.rtt)))].sort((a, b) => a - b);
  const capacityKnown = data.series.some((one) => one.capacity);
  const mode = () => {
    const asked = state.get("y", "goodput");
    if (asked.startsWith("ref")) return data.series[Number(asked.slice(3))] ? asked : "goodput";
    return asked === "share" && capacityKnown ? "share" : "goodput";
  };
  const extent = () => [rtts[0] ?? 0, rtts[rtts.length - 1] ?? 1];
  const overlaysOn = () => new Set(state.list("ov").map((i) => OVERLAYS[i]));
  const pubOn = () => state.get("pub") === "1";
  const flip = (key, usual) => [() => state.get(key, usual) === "log", (on) => state.set({ [key]: on ? "log" : "lin" })];
  const usualX = rtts[0] > 0 && rtts.length > 1 ? "log" : "lin";
  const controls = [
    choice("show", [["goodput", "goodput"], ...(capacityKnown ? [["share", "share of the capacity"]] : []),
      ...data.series.map((one, i) => ["ref" + i, `relative to: ${one.label}`]).filter((_, i) => data.series[i].points.length && data.series.length > 1)],
    mode, (value) => state.set({ y: value === "goodput" ? null : value })),
    ...(rtts[0] > 0 && rtts.length > 1 ? [checkbox("logarithmic RTT", ...flip("x", usualX))] : []),
    ...(rtts.length > 1 ? [checkbox("logarithmic goodput", ...flip("ys", "log"))] : []),
    checkbox("trials", () => state.get("pts", "1") === "1", (on) => state.set({ pts: on ? null : "0" })),
    ...OVERLAYS.filter((kind) => data.series.some((one) => kind in one.overlays)).map((kind) => {
      const number = OVERLAYS.indexOf(kind);
      return checkbox(`theory: ${kind}`, () => overlaysOn().has(kind), (on) => {
        const now = new Set(state.list("ov"));
        if (on) now.add(number); else now.delete(number);
        state.set({ ov: [...now].join(".") });
      });
    }),
    ...(capacityKnown && data.published.length && rtts.length > 1 ? [checkbox("published profiles (as shares)", pubOn,
      (on) => state.set(on ? { pub: "1", y: "share" } : { pub: null }))] : []),
  ];
  const zoom = zoomControls("zx", "ms", extent, 1e3);
  const made = chart({ id: "profile", title: "Throughput profile", controls: options("Choose what the figure shows",
    el("div", { class: "crowd controls" }, controls.map((each) => each.node)), rtts.length > 1 ? zoom.node : null), make, click: (datum) => datum.trial && openInside(datum.trial) });

  function make(width) {
    const shown = visible();
    if (!shown.length) return { nothing: data.series.some((one) => one.points.length) ? "No series is selected: select more values above."
      : "No trial has a goodput that can be used." };
    const look = looks(shown, data), how = mode(), ref = how.startsWith("ref") ? data.series[Number(how.slice(3))] : null;
    const most = Math.max(...shown.flatMap((one) => one.points.map((point) => point.mean)));
    const [scale, unit] = rateUnit(most);
    const divide = (one, rtt) => ref ? (ref.points.find((point) => point.rtt === rtt)?.mean ?? NaN) / 100
      : how === "share" ? (one.capacity ?? NaN) / 100 : scale;
    const yTitle = ref ? `goodput, % of ${ref.label}` : how === "share" ? "goodput, % of the capacity" : `goodput at the receiver (${unit})`;
    const inRtt = (point) => !rttKey || point.trials.some((n) => filter.passes(data.trials[n].params));
    const lines = shown.flatMap((one) => one.points.filter(inRtt).map((point) => {
      const by = divide(one, point.rtt);
      return { ...look.fields(one), rtt: point.rtt * 1e3, y: point.mean / by, low: point.low === null ? null : point.low / by,
        high: point.high === null ? null : point.high / by, n: point.trials.length };
    })).filter((row) => Number.isFinite(row.y));
    const dots = state.get("pts", "1") !== "1" ? [] : shown.flatMap((one) => one.points.filter(inRtt).flatMap((point) =>
      point.trials.map((n) => ({ ...look.fields(one), rtt: point.rtt * 1e3, y: data.trials[n].goodput / divide(one, point.rtt),
        trial: data.trials[n].id, verdict: data.trials[n].verdict })))).filter((row) => Number.isFinite(row.y));
    const theory = shown.flatMap((one) => [...overlaysOn()].filter((kind) => kind in one.overlays && !ref).flatMap((kind) =>
      one.overlays[kind].map(([rtt, rate]) => ({ ...look.fields(one), kind, line: `${kind} ${look.label(one)}`, rtt: rtt * 1e3,
        y: rate / divide(one, rtt) })))).filter((row) => Number.isFinite(row.y));
    const published = pubOn() && how === "share" ? data.published.flatMap((each) => each.points.map(([rtt, share]) =>
      ({ published: each.name, claim: each.claim, rtt: rtt * 1e3, y: share * 100 }))) : [];
    if (rtts.length === 1) return bars({ look, lines, dots, theory, yTitle, width });
    const logX = state.get("x", usualX) === "log" && rtts[0] > 0;
    const logY = state.get("ys", "log") === "log" && lines.every((row) => row.y > 0);
    const seen = (state.range("zx") ?? extent()).map((v) => v * 1e3);
    const pad = logX ? 1.06 : 0;
    const domain = logX ? [seen[0] / pad, seen[1] * pad] : [state.range("zx") ? seen[0] : 0, seen[1] * 1.02];
    const legend = legendPlace(width, wordsOf(look));
    const ticks = [...new Set(lines.map((row) => row.rtt))].filter((v) => v >= domain[0] && v <= domain[1]);
    const within = (row) => row.rtt >= domain[0] && row.rtt <= domain[1] && row.y > 0;
    const rows = [...dots, ...lines, ...theory, ...published].filter(within).map((row) => row.y);
    const high = Math.max(...rows) * 1.25, low = Math.min(...lines.filter(within).map((row) => row.y), ...dots.filter(within).map((row) => row.y)) / 1.25;
    const x = { field: "rtt", type: "quantitative", title: "round-trip time (ms)", scale: { type: logX ? "log" : "linear", domain, nice: false,
      zero: false }, axis: { values: ticks.length && ticks.length < 16 ? ticks : logX ? logTicks(...domain) : undefined, labelExpr: PLAIN, labelOverlap: true } };
    const y = { field: "y", type: "quantitative", title: yTitle, scale: { zero: !logY, nice: !logY,
      type: logY ? "log" : "linear", ...(logY && high > low ? { domain: [low, high] } : {}) },
    axis: { labelExpr: PLAIN, ...(logY && high > low ? { values: logTicks(low, high) } : {}) } };
    const { shape, ...encoding } = seriesEncoding(look, legend);
    const what = ["series", "rtt", "y"].map((field) => ({ field, title: { series: "series", rtt: "RTT (ms)", y: yTitle }[field] }));
    const layer = [
      { data: { values: lines }, params: brush("brush"), mark: { type: "line", strokeWidth: 2, clip: true },
        encoding: { x, y, ...encoding, tooltip: [...what, { field: "n", title: "trials" }] } },
      { data: { values: lines.filter((row) => row.low !== null) }, mark: { type: "rule", strokeWidth: 1.6, clip: true },
        encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" }, color: encoding.color,
          tooltip: [...what, { field: "low", title: "95 % from" }, { field: "high", title: "to" }, { field: "n", title: "trials" }] } },
      ...["valid", "suspect"].map((verdict) => ({ data: { values: dots.filter((row) => row.verdict === verdict) },
        mark: { type: "point", filled: verdict === "valid", size: 55, opacity: .9, clip: true, cursor: "pointer",
          ...(verdict === "suspect" ? { fill: css("card"), strokeWidth: 1.6 } : {}) },
        encoding: { x, y, color: encoding.color, shape, tooltip: [...what, { field: "trial" }, { field: "verdict" }] } })),
      { data: { values: theory }, mark: { type: "line", strokeDash: [2, 4], strokeWidth: 1.4, opacity: .85, clip: true },
        encoding: { x, y, color: encoding.color, detail: { field: "line" }, tooltip: [...what, { field: "kind" }] } },
      { data: { values: published }, mark: { type: "point", shape: "diamond", size: 150, strokeWidth: 2, color: css("text"), clip: true },
        encoding: { x, y, detail: { field: "published" }, tooltip: [{ field: "published" }, { field: "claim" }, { field: "rtt", title: "RTT (ms)" },
          { field: "y", title: "% of its capacity" }] } },
      { data: { values: published }, mark: { type: "line", strokeDash: [1, 3], color: css("text"), clip: true },
        encoding: { x, y, detail: { field: "published" } } },
    ].filter((each, i) => i === 0 || each.data.values.length);
    const left = data.series.filter((one) => one.points.length).length - shown.length;
    const suspect = dots.some((row) => row.verdict === "suspect");
    return {
      spec: { width: legend.plot, height: 360, layer },
      zoom: { params: ["brush"], done: (ends) => state.set({ zx: ends.map((v) => Number((v / 1e3).toPrecision(5))).join("~") }) },
      caption: `Lines join the means; bars are 95 % t intervals of the repetitions, where there are any.${suspect ? " Open marks: suspect." : ""}${
        dots.length ? " A click on a mark looks inside its trial." : ""}${canBrush() ? " Drag across to zoom." : ""}${
        left ? ` ${left} more series are not chosen.` : ""}${theory.length ? " Dotted lines: theory." : ""}${
        published.length ? " Diamonds: published, as shares of their own capacity." : ""}`,
      rows: () => [
        ...lines.map((row) => ({ what: "mean", series: row.series, rtt_ms: row.rtt, value: row.y, unit: yTitle, low: row.low, high: row.high, trials: row.n })),
        ...dots.map((row) => ({ what: "trial", series: row.series, rtt_ms: row.rtt, value: row.y, unit: yTitle, trial: row.trial, verdict: row.verdict })),
        ...theory.map((row) => ({ what: row.kind, series: row.series, rtt_ms: row.rtt, value: row.y, unit: yTitle })),
        ...published.map((row) => ({ what: "published", series: row.published, rtt_ms: row.rtt, value: row.y, unit: "% of its capacity" })),
      ],
    };
  }
  // At one round-trip time there is no line to draw: a bar for each series, from 0.
  function bars({ look, lines, dots, theory, yTitle, width }) {
    const wide = Math.min(.45 * width, 40 + letters(lines.map((row) => row.series)));
    const y = { field: "series", type: "nominal", title: null, sort: lines.map((row) => row.series), axis: { labelLimit: wide, ticks: false } };
    const x = { field: "y", type: "quantitative", title: yTitle, scale: { zero: true, nice: true }, axis: { labelExpr: PLAIN, tickCount: 6 } };
    const domain = look.groups.map((each) => each.word);
    const color = { field: "group", type: "nominal", legend: null, scale: { domain, range: look.groups.map((each) => each.colour) } };
    const tooltip = [{ field: "series" }, { field: "y", title: yTitle }, { field: "low", title: "95 % from" }, { field: "high", title: "to" }, { field: "n", title: "trials" }];
    const suspect = dots.some((row) => row.verdict === "suspect");
    const layer = [
      { data: { values: lines }, mark: { type: "bar", opacity: .75 }, encoding: { x, y, color, tooltip } },
      { data: { values: lines.filter((row) => row.low !== null) }, mark: { type: "rule", strokeWidth: 1.6, color: css("text") },
        encoding: { x: { ...x, field: "low" }, x2: { field: "high" }, y, tooltip } },
      ...["valid", "suspect"].map((verdict) => ({ data: { values: dots.filter((row) => row.verdict === verdict) },
        mark: { type: "point", filled: verdict === "valid", size: 45, opacity: .9, color: css("text"), cursor: "pointer",
          ...(verdict === "suspect" ? { fill: css("card") } : {}) },
        encoding: { x, y, tooltip: [{ field: "trial" }, { field: "y", title: yTitle }, { field: "verdict" }] } })),
      { data: { values: theory }, mark: { type: "tick", thickness: 2.5, color: css("text") }, encoding: { x, y, tooltip: [{ field: "kind" }, { field: "y", title: yTitle }] } },
    ].filter((each, i) => i === 0 || each.data.values.length);
    return {
      spec: { width: Math.max(180, width - wide - 60), height: { step: lines.length > 12 ? 22 : 34 }, layer },
      caption: `At the one round-trip time of ${msText(rtts[0])}. Bars are the means, with 95 % t intervals of the repetitions, where there are any.${
        dots.length ? " Points are trials; a click on one looks inside." : ""}${suspect ? " Open points: suspect." : ""}${theory.length ? " Ticks across: theory." : ""}`,
      rows: () => [
        ...lines.map((row) => ({ what: "mean", series: row.series, rtt_ms: row.rtt, value: row.y, unit: yTitle, low: row.low, high: row.high, trials: row.n })),
        ...dots.map((row) => ({ what: "trial", series: row.series, rtt_ms: row.rtt, value: row.y, unit: yTitle, trial: row.trial, verdict: row.verdict })),
        ...theory.map((row) => ({ what: row.kind, series: row.series, rtt_ms: row.rtt, value: row.y, unit: yTitle })),
      ],
    };
  }
  return { node: made.node, update() { controls.forEach((each) => each.sync()); zoom.sync(); return made.update(); } };
}


// Round values from low to high, at least three where there is room: of all decades, of 1, 2 and 5, of 1 to 9, or in equal steps.
function logTicks(low, high) {
  const round = (value) => Number(value.toPrecision(6)), inside = (value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
  const powers = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) powers.push(power);
  for (const firsts of [[1], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
    const ticks = powers.flatMap((power) => firsts.map((first) => round(first * 10 ** power))).filter(inside);
    if (ticks.length >= 3) return ticks;
  }
  const raw = (high - low) / 8, base = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((first) => first * base >= raw) * base, ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high * (1 + 1e-9); n++) ticks.push(round(n * step));
  return ticks;
}

// A number on an axis: never in powers of ten, as Vega writes those of logarithmic scales.
const PLAIN = "format(datum.value, '~r')";
