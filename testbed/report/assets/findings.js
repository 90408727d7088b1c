// The results: profile, coefficients, windows, limits, heat map, and the choice of what is shown.
function coefficientChart(data, filter) {
  const all = data.series.filter((one) => one.coefficients);
  const flowsKey = data.keys.find((key) => key.key.split(".").pop() === "flows")?.key;
  return chart({ id: "c-uc", title: "Utilization-concavity coefficient C_UC by flows and loss", make(width) {
    const shown = all.filter((one) => filter.passes(one.params));
    if (!shown.length) return { nothing: all.length ? "No series is selected." : "C_UC needs a rate, and trials at two or more round-trip times." };
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
      caption: "0.75 is a full link at every round-trip time; the bars are 95 % t intervals where there are repetitions.",
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
      caption: `Mean and standard deviation (over n, not n − 1) of the repetitions${data.windows.duration_s ? `, in ${data.windows.duration_s} s` : ""}.`,
      rows: () => values.map(({ series, window, mean, sd, trials }) => ({ series, window, mean_mb: mean, sd_mb: sd, trials })),
    };
  } });
  const cell = (each) => each ? `${short(each.mean_mb)}${each.sd_mb === null ? "" : ` (${short(each.sd_mb, 2)})`}` : "–";
  const rows = data.windows.rows, keys = data.keys.filter((key) => rows.some((row) => key.key in row.params));
  const at = (row, window) => row.transfers.find((each) => each.window === window);
  const table = () => dataTable({ label: "Transfer by window", name: "windows-table", rows, most: 40, columns: [
    ...(keys.length ? paramColumns(keys) : [{ name: "trials", get: (row) => row.label }]),
    ...data.windows.windows.map((window) => ({ name: window, get: (row) => cell(at(row, window)), order: (row) => at(row, window)?.mean_mb ?? null })),
  ] });
  return { node: el("div", {}, made.node, el("h3", {}, "MB of 2^20 bytes: mean (sd), in the form of the paper"),
    foldedIfLong("windows-table", "transfers", rows, table)), update: made.update };
}

function limitTable(data, filter) {
  const body = el("div");
  const met = new Set(data.trials.map((trial) => trial.limit.limit)), apart = data.keys.filter((key) => key.is_apart);
  return { node: el("div", {}, el("h3", {}, "What limited each cell"), el("p", { class: "quiet" },
    "What held the flows back longest. ", Object.entries(data.limits).filter(([limit]) => met.has(limit)).map(([limit, what]) =>
      `${limit}: ${what}`).join("; "), ". Point at a word for the times."), body), update() {
    const shown = data.series.filter((one) => one.points.length && filter.passes(one.params));
    const rtts = [...new Set(shown.flatMap((one) => one.points.map((point) => point.rtt)))].sort((a, b) => a - b);
    const words = (point) => Object.entries(point.limits).map(([limit, n]) => Object.keys(point.limits).length > 1 ? `${limit} ${n}` : limit);
    const at = (one, rtt) => one.points.find((point) => point.rtt === rtt);
    const why = (point, limit) => [...new Set(point.trials.map((n) => data.trials[n].limit).filter((each) => each.limit === limit)
      .map((each) => each.why))].slice(0, 3).join("\n");
    body.replaceChildren(dataTable({ rows: shown, label: "What limited each cell", name: "limits", columns: [
      ...(apart.length ? paramColumns(apart) : [{ name: "series", get: (one) => one.label }]),
      ...rtts.map((rtt) => ({ name: msText(rtt), get: (one) => { const point = at(one, rtt); return point ? words(point).join(", ") : ""; },
        show: (one) => { const point = at(one, rtt); return point ? el("span", {}, Object.keys(point.limits).map((limit, n) =>
          el("span", { class: "limit", title: why(point, limit), style: `--c:${palette()[LIMITS[limit] ?? 6]}` }, words(point)[n]))) : ""; } })),
    ] }));
  } };
}

// How several flows share a path: Jain's index, and each flow's part.
function sharesTable(data, filter) {
  const body = el("div");
  const bar = (share) => el("span", { class: "share", style: `--w:${Math.round((share ?? 0) * 100)}%` }, share === null ? "–" : `${short(share * 100, 3)} %`);
  return { node: el("div", {}, el("h3", {}, "Fairness: how the flows share"), el("p", { class: "quiet" },
    "Jain's index is 1 where all flows get the same, and 1/n where one of n gets all. The share is of the goodput of all flows, over the same time."), body), update() {
    const rows = data.trials.filter((trial) => trial.flows.length && trial.verdict !== "invalid" && filter.passes(trial.params)).map((trial) => {
      const sorted = [...trial.flows].sort((a, b) => b.share - a.share);
      return { trial, first: sorted[0], last: sorted.at(-1), jain: trial.metrics.fairness ?? null };
    });
    const names = [...new Set(rows.flatMap((row) => row.trial.flows.map((flow) => flow.name)))];
    const each = names.length <= 8 ? names.map((name) => ({ name, number: true,
      get: (row) => row.trial.flows.find((flow) => flow.name === name)?.share ?? null,
      show: (row) => { const flow = row.trial.flows.find((one) => one.name === name); return flow ? bar(flow.share) : ""; } }))
      : [["largest share", "first"], ["smallest share", "last"]].map(([name, end]) => ({ name, number: true, get: (row) => row[end].share,
        show: (row) => el("span", {}, bar(row[end].share), ` ${row[end].name}`) }));
    const table = () => dataTable({ rows, label: "Fairness", name: "fairness", most: 20, columns: [
      ...trialColumns(data, (row) => row.trial),
      ...(data.keys.some((key) => key.name === "flows") ? [] : [{ name: "flows", get: (row) => row.trial.flows.length, number: true }]),
      { name: "Jain's index", get: (row) => row.jain, show: (row) => short(row.jain, 3), number: true }, ...each,
    ] });
    body.replaceChildren(foldedIfLong("fairness", "trials with several flows", rows, table));
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
      if (!used.length) return { nothing: "No selected trial has a goodput." };
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
        caption: `Mean goodput of all selected trials with the two values, in ${unit}; ${used.length} trial${used.length === 1 ? "" : "s"}.`,
        rows: () => values.map((row) => ({ [kx]: row.x, [ky]: row.y, mean_goodput: row.mean, unit, trials: row.trials })),
      };
    } });
  return { node: made.node, update() { controls.forEach((each) => each.sync()); return made.update(); } };
}

// What the tools measured besides goodput: round-trip times of pings, loss and jitter of datagrams, times of downloads.
function measuredTable(data) {
  const names = [...new Set(data.trials.flatMap((trial) => Object.keys(trial.measured)))];
  const rows = data.trials.filter((trial) => Object.keys(trial.measured).length);
  const table = () => [sameLine(data), dataTable({ rows,
    label: "Other measurements", name: "measured", most: 20, columns: [...trialColumns(data), ...names.map((name) => ({ name, get: (trial) => trial.measured[name],
      show: (trial) => typeof trial.measured[name] === "number" ? short(trial.measured[name], 5) : trial.measured[name],
      number: rows.some((trial) => typeof trial.measured[name] === "number") }))] })];
  return { node: hasGoodput(data) ? folded("measured", "Other measurements of each trial", table) : el("div", {}, el("h3", {}, "Other measurements"), table()),
    update() {} };
}

// The metrics by which runs are compared, of each trial.
function metricTable(data) {
  const known = data.metrics.filter((metric) => data.trials.some((trial) => trial.metrics[metric.name] !== null));
  return { node: folded("metrics", "Metrics of each trial", () => [sameLine(data), dataTable({ rows: data.trials, label: "Metrics", name: "metrics",
    most: 20, columns: [...trialColumns(data),
    ...known.map((metric) => ({ name: metric.title, number: true,
      get: (trial) => trial.metrics[metric.name] === null ? null : trial.metrics[metric.name] * metric.scale,
      show: (trial) => trial.metrics[metric.name] === null ? "–" : short(trial.metrics[metric.name] * metric.scale, 4) })),
  ] }), el("p", { class: "quiet" }, known.map((metric) => `${metric.name}: ${metric.what}`).join("; "), ".")]), update() {} };
}

const hasGoodput = (data) => data.trials.some((trial) => trial.goodput !== null);

function findingsSection(data) {
  const filter = filters(data);
  const parts = hasGoodput(data) ? [profileChart(data, filter)] : [];
  if (data.series.some((one) => one.points.length)) parts.push(limitTable(data, filter));
  if (data.series.some((one) => one.coefficients)) parts.push(coefficientChart(data, filter));
  if (data.windows) parts.push(windowsChart(data));
  if (data.trials.some((trial) => trial.flows.length)) parts.push(sharesTable(data, filter));
  if (data.keys.length > 1 && data.trials.some((trial) => trial.goodput !== null)) parts.push(heatChart(data, filter));
  if (data.trials.some((trial) => Object.keys(trial.measured).length)) parts.push(measuredTable(data));
  if (data.trials.some((trial) => Object.values(trial.metrics).some((value) => value !== null))) parts.push(metricTable(data));
  const several = data.series.filter((one) => one.points.length).length;
  const node = section("findings", "What came out", el("div", { id: "headline" }, data.headline.map((text) => el("p", {}, text))),
    ...(hasGoodput(data) ? [sameLine(data), filter.node] : []), filter.limited ? el("p", { class: "quiet controls" },
    `There are ${several} series, too many to tell apart; at first some values are not selected.`) : null,
  parts.map((part) => part.node));
  return { node, async update() {
    filter.sync();
    for (const part of parts) await part.update();
  } };
}
