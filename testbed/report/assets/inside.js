// Inside a trial: the signals of its flows and queues on one axis of lab time.
const PANELS = [
  ["goodput", "goodput (Mbit/s)"], ["cwnd", "cwnd (MB)"], ["srtt", "smoothed RTT (ms)"], ["resent", "sent again (segments)"],
];

function sums(steps) {
  let total = 0;
  return steps.map((step) => (total += step));
}

function decoded(trace) {
  const flows = trace.flows.map((flow) => {
    const time = sums(flow.t), resent = sums(flow.r);
    return { name: flow.name, rows: time.map((t, i) => ({ name: flow.name, t: t / 1e4, goodput: flow.g[i] === null ? null : flow.g[i] / 1e3,
      cwnd: flow.c[i] === null ? null : flow.c[i] / 1e4, srtt: flow.s[i] === null ? null : flow.s[i] / 1e3, resent: resent[i] })) };
  });
  const queues = trace.queues.map((queue) => ({ name: queue.name, rows: sums(queue.t).map((t, i) => ({ name: queue.name, t: t / 1e4,
    queue: queue.b[i] })), drops: queue.drops.map(([t, n]) => ({ name: queue.name, t: t / 1e4, drops: n })) }));
  return { ...trace, flows, queues, drops: queues.flatMap((queue) => queue.drops) };
}

function insideSection(data) {
  const numbers = Object.keys(data.inside).map(Number);
  const intro = el("p", { class: "quiet" }, "What the flows and the queues of one trial did, over lab time.");
  if (!numbers.length) return { node: section("inside", "Inside a trial", intro, el("p", {}, "No trial has samples.")), update() {} };
  const ids = numbers.map((number) => data.trials[number].id);
  const chosen = () => { const found = data.trials.findIndex((trial) => trial.id === state.get("trial")); return found in data.inside ? found : numbers[0]; };
  let trace = null, loaded = -1, failed = "";
  const pick = choice("trial", numbers.map((number) => [data.trials[number].id, trialWords(data, data.trials[number])]), () => data.trials[chosen()].id, (id) => state.set({ trial: id, zt: null, hide: null }));
  const step = (by) => () => state.set({ trial: ids[(numbers.indexOf(chosen()) + by + ids.length) % ids.length], zt: null, hide: null });
  const about = el("div", { class: "crowd" }), flowBoxes = el("div", { class: "crowd" });
  const flowSet = el("fieldset", { class: "controls" }, el("legend", {}, "flows"), flowBoxes);
  const extent = () => {
    const times = trace ? [...trace.flows, ...trace.queues].flatMap((each) => [each.rows[0]?.t, each.rows.at(-1)?.t]).filter(Number.isFinite) : [];
    return times.length ? [Math.max(Math.min(...times), -.02 * Math.max(...times)), Math.max(...times)] : [0, 1];
  };
  const zoom = zoomControls("zt", "s", extent);
  const hidden = () => new Set(state.list("hide"));
  const made = chart({ id: "signals", title: "Signals", controls: el("div", {}, el("div", { class: "crowd controls" }, pick.node,
    el("button", { type: "button", onclick: step(-1) }, "previous"), el("button", { type: "button", onclick: step(1) }, "next")), about, zoom.node, flowSet), make });

  function make(width) {
    if (failed) return { nothing: failed };
    if (!trace) return { nothing: "Unpacking …" };
    const away = hidden(), flows = trace.flows.filter((_, i) => !away.has(i));
    const domain = state.range("zt") ?? extent();
    const names = trace.flows.map((flow) => flow.name), colours = palette(), queues = trace.queues.map((queue) => queue.name);
    const flowRows = flows.flatMap((flow) => flow.rows).filter(inView(domain)), drops = trace.drops.filter((row) => row.t >= domain[0] && row.t <= domain[1]);
    const panels = [...(flows.length ? PANELS : []), ...(queues.length ? [["queue", "queue (packets)"]] : [])];
    if (!panels.length) return { nothing: trace.flows.length ? "No flow is selected." : "This trial has no samples of flows or queues." };
    const inner = Math.max(180, width - 85);
    const x = { field: "t", type: "quantitative", scale: { domain, nice: false, zero: false } };
    const spec = panels.map(([key, title], i) => {
      const ofQueue = key === "queue", all = ofQueue ? queues : names;
      const values = ofQueue ? trace.queues.flatMap((queue) => queue.rows).filter(inView(domain)) : flowRows;
      const color = { field: "name", type: "nominal", title: null, scale: { domain: all, range: all.map((_, n) => colours[n % 7]) },
        legend: all.length > 1 && (ofQueue || i === 0) ? { orient: "top", columns: Math.max(1, Math.floor(inner / 110)) } : null };
      const dash = { field: "name", type: "nominal", title: null, legend: null, scale: { domain: all, range: all.map((_, n) => DASHES[Math.floor(n / 7) % 4]) } };
      return { width: inner, height: 110, layer: [
        { params: brush("brush" + i), data: { values }, mark: { type: "line", strokeWidth: 1.4, clip: true, ...(key === "resent" ? { interpolate: "step-after" } : {}) },
          encoding: { x: { ...x, title: i === panels.length - 1 ? "lab time since the workload began (s)" : null, axis: { labels: i === panels.length - 1, tickCount: Math.floor(inner / 90) } },
            y: { field: key, type: "quantitative", title, scale: { zero: true, nice: true, ...(values.some((row) => row[key]) ? {} : { domain: [0, 1] }) }, axis: { tickCount: 4, format: key === "queue" || key === "resent" ? "~s" : ",~r" } }, color, strokeDash: dash } },
        ...(drops.length ? [{ data: { values: drops }, mark: { type: "rule", color: colours[1], strokeWidth: 1.4, clip: true, aria: false },
          encoding: { x, y: { value: 0 }, y2: { value: 9 }, tooltip: [{ field: "t", title: "s" }, { field: "drops", title: "packets dropped" }, { field: "name", title: "queue" }] } }] : []),
      ] };
    });
    const total = trace.drops.reduce((sum, row) => sum + row.drops, 0);
    return {
      spec: { vconcat: spec, spacing: 10, resolve: { scale: { color: "independent", strokeDash: "independent" } }, config: { concat: { spacing: 8 } } },
      zoom: { params: panels.map((_, i) => "brush" + i), done: (ends) => state.set({ zt: ends.map((v) => Number(v.toPrecision(5))).join("~") }) },
      caption: `Goodput is what was acknowledged over the last ${short(trace.average_s, 3)} s; MB are 10^6 bytes. ${total ? `Marks at the top: ${total
        } packets dropped by queues${trace.signalled ? `, ${trace.signalled} of them to signal congestion` : " that were full"}.` : "No queue dropped a packet."}${
        trace.marked ? ` Queues marked ${trace.marked} packets (CE).` : ""} ${trace.kept < trace.samples ? `${trace.kept} of ${trace.samples} samples are shown: those with the smallest and the largest measured values of each interval.` : `All ${trace.samples} samples are shown.`}${
        trace.left_out ? ` ${trace.left_out} flows that moved less are not shown.` : ""}${canBrush() ? " Drag across to zoom." : ""}`,
      rows: () => [
        ...flows.flatMap((flow) => flow.rows).map((row) => ({ what: "flow", name: row.name, time_s: row.t, goodput_mbps: row.goodput, cwnd_mb: row.cwnd,
          srtt_ms: row.srtt, sent_again: row.resent, queue_packets: null, drops: null })),
        ...trace.queues.flatMap((queue) => queue.rows).map((row) => ({ what: "queue", name: row.name, time_s: row.t, goodput_mbps: null, cwnd_mb: null,
          srtt_ms: null, sent_again: null, queue_packets: row.queue, drops: null })),
        ...trace.drops.map((row) => ({ what: "drops", name: row.name, time_s: row.t, goodput_mbps: null, cwnd_mb: null, srtt_ms: null, sent_again: null,
          queue_packets: null, drops: row.drops })),
      ],
    };
  }

  // The samples in view, and one beyond each end, so that lines reach the edges.
  function inView([from, to]) {
    return (row, i, all) => (all[i + 1]?.name !== row.name || all[i + 1].t >= from) && (all[i - 1]?.name !== row.name || all[i - 1].t <= to);
  }

  async function load(number) {
    try {
      trace = decoded(await unpack(data.inside[number]));
      failed = "";
    } catch (error) { failed = error.message; }
    loaded = number;
    flowBoxes.replaceChildren(...(trace?.flows ?? []).map((flow, i) => {
      const box = checkbox(flow.name, () => !hidden().has(i), (on) => {
        const now = hidden();
        if (on) now.delete(i); else now.add(i);
        state.set({ hide: [...now].join(".") });
      });
      box.sync();
      return box.node;
    }));
    flowSet.hidden = (trace?.flows.length ?? 0) < 2;
  }

  return { node: section("inside", "Inside a trial", intro, made.node), async update() {
    const number = chosen(), trial = data.trials[number];
    if (loaded !== number) await load(number);
    pick.sync(); zoom.sync();
    flowBoxes.querySelectorAll("input").forEach((box, i) => { box.checked = !hidden().has(i); });
    about.replaceChildren(badge(trial.verdict), el("span", {}, rateText(trial.goodput)), trialLinks(data, number).firstChild,
      ...grouped(trial.findings.map(([check, , text, hint]) => ({ check, text, hint, number }))).map(({ check, text }) =>
        el("span", { class: "quiet" }, `${check}: ${text}`)));
    await made.update();
  } };
}
