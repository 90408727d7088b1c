// What came out: profile, coefficients, windows, limits, heat map. What is shown of it is chosen here.
const OVERLAYS = ["line rate", "window limit", "square-root law", "CUBIC average"];
const FEW_SERIES = 20;

// The chosen values of each parameter, by the parameter's number; a hash without any shows what fits.
function filters(data) {
  const keys = data.keys.map((key, number) => ({ ...key, number })).filter((key) => key.is_rtt || key.is_apart);
  const usual = usualFilter(data, keys);
  const chosen = (key) => {
    const asked = state.get("f" + key.number);
    return asked === "" ? usual[key.number] ?? null : asked === "all" ? null : new Set(state.list("f" + key.number));
  };
  const passes = (params) => keys.every((key) => {
    const wanted = chosen(key);
    return !wanted || !(key.key in params) || wanted.has(key.values.indexOf(params[key.key]));
  });
  const boxes = [];
  const set = (key, number, on) => {
    const now = new Set(chosen(key) ?? key.values.map((_, i) => i));
    if (on) now.add(number); else now.delete(number);
    const all = now.size === key.values.length;
    state.set({ ["f" + key.number]: all ? (usual[key.number] ? "all" : null) : [...now].sort((a, b) => a - b).join(".") || "9999" });
  };
  const node = el("div", { class: "crowd controls", role: "group", "aria-label": "Which series are shown" }, keys.map((key) =>
    el("fieldset", { "data-key": key.key }, el("legend", {}, key.name), el("div", { class: "crowd" }, key.values.map((value, i) => {
      const box = checkbox(value || "(none)", () => !chosen(key) || chosen(key).has(i), (on) => set(key, i, on));
      boxes.push(box);
      return box.node;
    }), key.values.length > 2 ? el("button", { type: "button", "aria-label": `All values of ${key.name}`,
      onclick: () => state.set({ ["f" + key.number]: usual[key.number] ? "all" : null }) }, "all") : null))));
  return { node: keys.length ? node : null, passes, sync: () => boxes.forEach((box) => box.sync()), limited: Object.keys(usual).length > 0 };
}

// Of more series than one can tell apart, those are shown that have the first value of a parameter: of the one that
// leaves the most, but few enough; of several parameters if one is not enough.
function usualFilter(data, keys) {
  const usual = {};
  let left = data.series.filter((one) => one.points.length);
  while (left.length > FEW_SERIES) {
    const cuts = keys.filter((key) => key.is_apart && !(key.number in usual)).map((key) => {
      const first = key.values.findIndex((value) => left.some((one) => one.params[key.key] === value));
      return { key, first, left: left.filter((one) => one.params[key.key] === key.values[first]) };
    }).filter((cut) => cut.left.length < left.length);
    if (!cuts.length) break;
    const enough = cuts.filter((cut) => cut.left.length <= FEW_SERIES);
    const size = (cut) => (enough.length ? -cut.left.length : cut.left.length);
    const best = (enough.length ? enough : cuts).reduce((a, b) => (size(b) < size(a) ? b : a));
    usual[best.key.number] = new Set([best.first]);
    left = best.left;
  }
  return usual;
}

// Colour by the first parameter that varies in what is shown, line by the second, mark by the others.
function looks(series, data) {
  const keys = data.keys.filter((key) => new Set(series.map((one) => one.params[key.key])).size > 1).map((key) => key.key);
  const place = (one, key) => key === undefined ? 0 : data.keys.find((each) => each.key === key).values.indexOf(one.params[key]);
  const names = (key) => [...new Set(series.map((one) => place(one, key)))].sort((a, b) => a - b);
  const [first, second, third] = keys;
  const colours = palette(), rank = (one, key) => Math.max(0, names(key).indexOf(place(one, key)));
  const words = (some) => (one) => some.map((key) => wordOf(key, one.params[key])).join(", ");
  const group = words(keys.slice(0, 2)), mark = words(third === undefined ? keys.slice(0, 2) : keys.slice(2));
  const of = (word) => [...new Map(series.map((one) => [word(one), one])).values()];
  return {
    label: words(keys), group, mark, hasMarks: third !== undefined,
    groups: of(group).map((one) => ({ word: group(one), colour: colours[rank(one, first) % colours.length],
      dash: DASHES[(second ? rank(one, second) : Math.floor(rank(one, first) / colours.length)) % DASHES.length] })),
    marks: of(mark).map((one, i) => ({ word: mark(one), shape: SHAPES[(third === undefined ? rank(one, second ?? first) : i) % SHAPES.length] })),
    fields: (one) => ({ series: words(keys)(one) || one.label, group: group(one), mark: mark(one) }),
  };
}

function wordOf(key, value) {
  const name = key.split(".").pop();
  if (name === "flows") return `${value} flow${value === "1" ? "" : "s"}`;
  return ["window", "loss", "rate", "buffer", "kernel"].includes(name) ? `${name} ${value}` : String(value);
}

function seriesEncoding(look, legend) {
  const title = null, domain = look.groups.map((each) => each.word);
  const shown = domain.length > 1 ? { orient: legend.orient, columns: legend.columns, title, symbolType: "stroke", symbolSize: 400, symbolStrokeWidth: 2.2 } : null;
  const marks = look.marks.map((each) => each.word);
  const scale = (range) => ({ domain, range: look.groups.map((each) => each[range]) });
  return {
    detail: { field: "series" },
    color: { field: "group", type: "nominal", scale: scale("colour"), legend: shown, title, sort: domain },
    strokeDash: { field: "group", type: "nominal", scale: scale("dash"), legend: shown, title, sort: domain },
    shape: { field: "mark", type: "nominal", scale: { domain: marks, range: look.marks.map((each) => each.shape) }, title, sort: marks,
      legend: look.hasMarks ? { orient: legend.orient, columns: legend.orient === "bottom" ? 3 : 1, title } : null },
  };
}
// Beside the plot where there is room for its words, else below.
const letters = (words) => 7 * Math.max(0, ...words.map((word) => word.length));
function legendPlace(width, words) {
  const wide = letters(words) + 50;
  if (words.length < 2) return { orient: "right", columns: 1, plot: Math.max(180, width - 70) };
  if (wide < .45 * width && width > 700) return { orient: "right", columns: 1, plot: width - 75 - wide };
  return { orient: "bottom", columns: Math.max(1, Math.floor(width / wide)), plot: Math.max(180, width - 70) };
}
const wordsOf = (look) => [...look.groups, ...(look.hasMarks ? look.marks : [])].map((each) => each.word);

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
    ...(rtts[0] > 0 ? [checkbox("logarithmic RTT", ...flip("x", usualX))] : []),
    checkbox("logarithmic goodput", ...flip("ys", "log")),
    checkbox("trials", () => state.get("pts", "1") === "1", (on) => state.set({ pts: on ? null : "0" })),
    ...OVERLAYS.filter((kind) => data.series.some((one) => kind in one.overlays)).map((kind) => {
      const number = OVERLAYS.indexOf(kind);
      return checkbox(`theory: ${kind}`, () => overlaysOn().has(kind), (on) => {
        const now = new Set(state.list("ov"));
        if (on) now.add(number); else now.delete(number);
        state.set({ ov: [...now].join(".") });
      });
    }),
    ...(capacityKnown && data.published.length ? [checkbox("published profiles (as shares)", pubOn,
      (on) => state.set(on ? { pub: "1", y: "share" } : { pub: null }))] : []),
  ];
  const zoom = zoomControls("zx", "ms", extent, 1e3);
  const made = chart({ id: "profile", title: "Throughput profile", controls: el("div", {}, el("div", { class: "crowd controls" },
    controls.map((each) => each.node)), rtts.length > 1 ? zoom.node : null), make, click: (datum) => datum.trial && openInside(datum.trial) });

  function make(width) {
    const shown = visible();
    if (!shown.length) return { nothing: data.series.some((one) => one.points.length) ? "No series is chosen: tick more values above."
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
    const logX = state.get("x", usualX) === "log" && rtts[0] > 0;
    const logY = state.get("ys", "log") === "log" && lines.every((row) => row.y > 0);
    const seen = (state.range("zx") ?? extent()).map((v) => v * 1e3);
    const pad = logX ? 1.06 : 0;
    const domain = logX ? [seen[0] / pad, seen[1] * pad] : [state.range("zx") ? seen[0] : 0, seen[1] * 1.02];
    const legend = legendPlace(width, wordsOf(look));
    const ticks = [...new Set(lines.map((row) => row.rtt))].filter((v) => v >= domain[0] && v <= domain[1]);
    const rows = [...dots, ...lines].map((row) => row.y).filter((v) => v > 0);
    const x = { field: "rtt", type: "quantitative", title: "round-trip time (ms)", scale: { type: logX ? "log" : "linear", domain, nice: false,
      zero: false }, axis: { values: ticks.length && ticks.length < 16 ? ticks : undefined, format: "~g", labelOverlap: true } };
    const y = { field: "y", type: "quantitative", title: yTitle, scale: { type: logY ? "log" : "linear", zero: !logY, nice: true, padding: logY ? 6 : 0 },
      axis: { format: "~g", ...(logY ? { values: logTicks(Math.min(...rows), Math.max(...rows)) } : {}) } };
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
  return { node: made.node, update() { controls.forEach((each) => each.sync()); zoom.sync(); return made.update(); } };
}

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const first of [1, 2, 5]) ticks.push(Number((first * 10 ** power).toPrecision(2)));
  }
  return ticks.filter((value) => value >= low / 2.5 && value <= high * 2.5);
}

function coefficientChart(data, filter) {
  const all = data.series.filter((one) => one.coefficients);
  const flowsKey = data.keys.find((key) => key.key.split(".").pop() === "flows")?.key;
  return chart({ id: "c-uc", title: "Utilization-concavity coefficient C_UC by flows and loss", make(width) {
    const shown = all.filter((one) => filter.passes(one.params));
    if (!shown.length) return { nothing: all.length ? "No series is chosen." : "It needs a rate, and trials at two or more round-trip times." };
    const apart = shown.map((one) => ({ ...one, params: Object.fromEntries(Object.entries(one.params).filter(([key]) => key !== flowsKey)) }));
    const look = looks(apart, data);
    const values = shown.map((one, i) => ({ ...look.fields(apart[i]), ...(look.label(apart[i]) ? {} : { series: "all" }), flows: one.flows,
      c_uc: one.coefficients.c_uc, low: one.coefficients.low, high: one.coefficients.high, loss: one.loss }));
    const legend = legendPlace(width, wordsOf(look)), { shape, ...encoding } = seriesEncoding(look, legend);
    const x = { field: "flows", type: "quantitative", title: "parallel flows", scale: { zero: false, padding: 12 },
      axis: { values: [...new Set(values.map((row) => row.flows))], format: "d", grid: false } };
    const y = { field: "c_uc", type: "quantitative", title: "C_UC (ratio)", scale: { zero: false, nice: true } };
    const tooltip = ["series", "flows", "c_uc", "low", "high"].map((field) => ({ field }));
    return {
      spec: { width: legend.plot, height: 280, data: { values }, layer: [
        { mark: { type: "line", strokeWidth: 2 }, encoding: { x, y, ...encoding } },
        { mark: { type: "point", filled: true, size: 65 }, encoding: { x, y, color: encoding.color, shape, tooltip } },
        { transform: [{ filter: "isValid(datum.low)" }], mark: { type: "rule" }, encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" },
          color: encoding.color, tooltip } },
      ] },
      caption: "0.75 is a full link at every round-trip time; the bars are bootstrap intervals where there are repetitions.",
      rows: () => values.map(({ group, mark, ...row }) => row),
    };
  } });
}

function windowsChart(data) {
  const values = data.windows.rows.flatMap((row) => row.transfers.map((each) => ({ series: row.label, window: each.window, mean: each.mean_mb,
    sd: each.sd_mb, low: each.mean_mb - each.sd_mb, high: each.mean_mb + each.sd_mb, trials: each.trials })));
  const made = chart({ id: "windows", title: "Transfer by window", make(width) {
    const domain = data.windows.rows.map((row) => row.label), several = domain.length > 1, legend = legendPlace(width, domain);
    const x = { field: "window", type: "nominal", sort: data.windows.windows, title: "window", axis: { labelAngle: 0 } };
    const xOffset = several ? { xOffset: { field: "series", sort: domain } } : {};
    const y = { field: "mean", type: "quantitative", title: "MB of 2^20 bytes" };
    const tooltip = ["series", "window", "mean", "sd", "trials"].map((field) => ({ field }));
    return {
      spec: { width: legend.plot, height: 260, data: { values }, layer: [
        { mark: { type: "bar" }, encoding: { x, y, ...xOffset, tooltip, color: { field: "series", type: "nominal", title: null,
          scale: { domain, range: domain.map((_, i) => palette()[i % 7]) }, legend: several ? { orient: legend.orient, columns: legend.columns } : null } } },
        { mark: { type: "rule", strokeWidth: 1.5, color: css("text") }, encoding: { x, ...xOffset, y: { ...y, field: "low" }, y2: { field: "high" } } },
      ] },
      caption: `Mean and standard deviation (with n) of the repetitions${data.windows.duration_s ? `, in ${data.windows.duration_s} s` : ""}.`,
      rows: () => values.map(({ series, window, mean, sd, trials }) => ({ series, window, mean_mb: mean, sd_mb: sd, trials })),
    };
  } });
  const headers = ["MB of 2^20 bytes", ...data.windows.windows];
  const cell = (each) => each ? `${short(each.mean_mb)} (${short(each.sd_mb, 2)})` : "–";
  const rows = data.windows.rows.map((row) => [row.label, ...data.windows.windows.map((window) =>
    cell(row.transfers.find((each) => each.window === window)))]);
  return { node: el("div", {}, made.node, el("h3", {}, "Mean (sd), in the form of the paper"), plainTable(headers, rows, "Transfer by window",
    "windows-table")), update: made.update };
}

function limitTable(data, filter) {
  const body = el("div");
  return { node: el("div", {}, el("h3", {}, "What limited each cell"), el("p", { class: "quiet" },
    "Of most flows of most trials: rate (the bottleneck was full), window, sender buffer, loss, application, cpu."), body), update() {
    const shown = data.series.filter((one) => one.points.length && filter.passes(one.params));
    const rtts = [...new Set(shown.flatMap((one) => one.points.map((point) => point.rtt)))].sort((a, b) => a - b);
    const words = (point) => Object.entries(point.limits).map(([limit, n]) => Object.keys(point.limits).length > 1 ? `${limit} ${n}` : limit);
    const at = (one, rtt) => one.points.find((point) => point.rtt === rtt);
    body.replaceChildren(dataTable({ rows: shown, label: "What limited each cell", name: "limits", columns: [
      { name: "series", get: (one) => one.label, wide: true },
      ...rtts.map((rtt) => ({ name: msText(rtt), get: (one) => { const point = at(one, rtt); return point ? words(point).join(", ") : ""; },
        show: (one) => { const point = at(one, rtt); return point ? el("span", {}, words(point).map((word) => el("span", { class: "limit",
          style: `--c:${palette()[LIMITS[Object.keys(point.limits).find((limit) => word.startsWith(limit))] ?? 6]}` }, word))) : ""; } })),
    ] }));
  } };
}

function heatChart(data, filter) {
  const names = data.keys.map((key) => [key.key, key.name]);
  const usualX = data.keys.find((key) => key.is_rtt)?.key ?? names[0][0];
  const known = (asked, usual) => names.some(([key]) => key === asked) ? asked : usual;
  const x = () => known(state.get("hx"), usualX);
  const y = () => { const found = known(state.get("hy"), names.find(([key]) => key !== x())[0]); return found === x() ? names.find(([key]) => key !== x())[0] : found; };
  const controls = [choice("across", names, x, (value) => state.set({ hx: value })), choice("down", names, y, (value) => state.set({ hy: value }))];
  const made = chart({ id: "heat", title: "Heat map of any two axes", controls: el("div", { class: "crowd controls" }, controls.map((each) => each.node)),
    make(width) {
      const used = data.trials.filter((trial) => trial.goodput !== null && trial.verdict !== "invalid" && filter.passes(trial.params));
      if (!used.length) return { nothing: "No trial is chosen that has a goodput." };
      const [kx, ky] = [x(), y()], cells = new Map();
      for (const trial of used) {
        const at = [trial.params[kx] ?? "", trial.params[ky] ?? ""], key = JSON.stringify(at);
        if (!cells.has(key)) cells.set(key, { x: at[0], y: at[1], sum: 0, trials: 0 });
        cells.get(key).sum += trial.goodput; cells.get(key).trials += 1;
      }
      const most = Math.max(...[...cells.values()].map((cell) => cell.sum / cell.trials)), [scale, unit] = rateUnit(most);
      const values = [...cells.values()].map((cell) => ({ ...cell, mean: cell.sum / cell.trials / scale, text: short(cell.sum / cell.trials / scale, 3) }));
      const order = (key) => data.keys.find((each) => each.key === key).values;
      const nameOf = (key) => names.find(([each]) => each === key)[1];
      const ways = { x: { field: "x", type: "nominal", sort: order(kx), title: nameOf(kx), axis: { labelAngle: width < 600 ? -40 : 0 } },
        y: { field: "y", type: "nominal", sort: order(ky), title: nameOf(ky) } };
      const rows = new Set(values.map((row) => row.y)).size, columns = new Set(values.map((row) => row.x)).size;
      const middle = (Math.max(...values.map((row) => row.mean)) + Math.min(0, ...values.map((row) => row.mean))) * .5;
      return {
        spec: { width: Math.max(150, Math.min(width - 250, 95 * columns + 40)), height: Math.max(60, 34 * rows), data: { values },
          encoding: ways, layer: [
            { mark: "rect", encoding: { color: { field: "mean", type: "quantitative", title: unit, scale: { scheme: "cividis", domainMin: 0 },
              legend: width > 600 ? { orient: "right" } : { orient: "bottom" } }, tooltip: [{ field: "x", title: nameOf(kx) }, { field: "y", title: nameOf(ky) },
              { field: "mean", title: `mean goodput (${unit})` }, { field: "trials" }] } },
            { mark: { type: "text", fontSize: 12 }, encoding: { text: { field: "text" }, color: { condition: { test: `datum.mean > ${middle}`, value: "#000" },
              value: "#fff" } } },
          ], config: { axis: { grid: false } } },
        caption: `Mean goodput of all chosen trials with the two values, in ${unit}; ${used.length} trials.`,
        rows: () => values.map((row) => ({ [kx]: row.x, [ky]: row.y, mean_goodput: row.mean, unit, trials: row.trials })),
      };
    } });
  return { node: made.node, update() { controls.forEach((each) => each.sync()); return made.update(); } };
}

function findingsSection(data) {
  const filter = filters(data);
  const parts = [profileChart(data, filter)];
  if (data.series.some((one) => one.coefficients)) parts.push(coefficientChart(data, filter));
  if (data.windows) parts.push(windowsChart(data));
  if (data.series.some((one) => one.points.length)) parts.push(limitTable(data, filter));
  if (data.keys.length > 1) parts.push(heatChart(data, filter));
  const several = data.series.filter((one) => one.points.length).length;
  const node = section("findings", "Findings", filter.node, filter.limited ? el("p", { class: "quiet controls" },
    `There are ${several} series, more than one can tell apart; some values are not ticked at first.`) : null,
  parts.map((part) => part.node));
  return { node, async update() {
    filter.sync();
    for (const part of parts) await part.update();
  } };
}
