// What moves, worked out of two looks at the counters; and the tables beside the drawing.
const count = (value) => value === null || value === undefined ? "–" : value.toLocaleString("en");
const sizeText = (bytes) => bytes >= 1e6 ? `${short(bytes / 1e6, 3)} MB` : bytes >= 1e3 ? `${short(bytes / 1e3, 3)} kB` : `${bytes} B`;

// Of each link and direction: bps that left it (null: cannot be told), its queue, its packets; and drops since the look before.
function moves(now, before) {
  const passed = before && now.clock_s !== null && before.clock_s !== null ? now.clock_s - before.clock_s : 0;
  return now.links.map((link) => {
    const then = before?.links.find((each) => each.name === link.name)?.seen;
    const found = { name: link.name, link, isDown: link.asked.down === "now", lost: null };
    for (const way of ["forward", "backward"]) {
      const seen = link.seen?.[way], was = then?.[way];
      const grown = seen && was ? (seen.left ?? seen).bytes - (was.left ?? was).bytes : -1;
      found[way] = { bps: passed > 0 && grown >= 0 ? grown * 8 / passed : null, queue: seen?.queue, packets: seen?.packets };
    }
    const dropped = (link.seen?.drops ?? NaN) - (then?.drops ?? NaN);
    if (passed > 0 && dropped >= 0) found.lost = dropped;
    return found;
  });
}

function askedText(asked) {
  const value = (each) => each !== null && typeof each === "object" ? Object.values(each).map(value).join(" / ") : String(each);
  return Object.entries(asked).map(([key, each]) => `${key} ${value(each)}`).join(", ") || "plain";
}

// What moved in the last minute, by link: [seconds of the network's clock, forward, backward, packets that wait].
const SPAN_S = 60, CHART = { width: 300, height: 46 };
function remember(past, all, clock) {
  if (clock === null) return;
  for (const move of all) {
    const list = past.get(move.name) ?? past.set(move.name, []).get(move.name);
    if (list.length && list.at(-1)[0] >= clock) continue;
    list.push([clock, move.forward.bps, move.backward.bps, (move.forward.queue?.packets ?? 0) + (move.backward.queue?.packets ?? 0)]);
    while (list[0][0] < clock - SPAN_S) list.shift();
  }
}

function chart(list, name) {
  const most = Math.max(0, ...list.flatMap(([, forward, backward]) => [forward ?? 0, backward ?? 0]));
  if (!most) return null;
  const { width, height } = CHART, end = list.at(-1)[0], x = (at) => width - (end - at) / SPAN_S * width;
  const line = (column, look) => {
    let gap = true, d = "";
    for (const row of list) {
      if (row[column] === null) { gap = true; continue; }
      d += `${gap ? "M" : "L"}${x(row[0]).toFixed(1)} ${(height - 2 - row[column] / most * (height - 14)).toFixed(1)}`;
      gap = false;
    }
    return svgEl("path", { d, class: look });
  };
  const waits = Math.max(...list.map((row) => row[3]));
  const told = `last minute, at most ${rateText(Number(most.toPrecision(3)))}${waits ? ` · ${count(waits)} packets waited` : ""}`;
  const svg = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "chart", role: "img",
    "aria-label": `rates of ${name} in the last minute` });
  svg.append(svgEl("path", { d: `M0 ${height - 1}H${width}`, class: "axis" }), line(1, "forward"), line(2, "backward"));
  return el("div", {}, el("div", { class: "quiet" }, told), svg);
}

function linkTable(all, past, pull) {
  const head = el("tr", {}, ["direction", "rate", "waiting", "packets"].map((name, i) => el("th", { class: i ? "num" : null }, name)));
  const rows = all.flatMap((move) => {
    const { ends, asked, seen } = move.link;
    const dropped = seen?.drops ? el("span", { class: "bad" }, ` · ${count(seen.drops)} dropped`) : null;
    const title = el("tr", { class: "link" }, el("th", { colspan: 4 }, move.name, " ",
      el("button", { type: "button", class: "pull", "aria-label":
      `${move.isDown ? "put in" : "pull out"} the cable ${move.name}`, onclick: () => pull(move) }, move.isDown ? "put in" : "pull out"), " ",
      el("span", { class: "quiet" }, askedText(asked)), dropped, seen ? null : el("span", { class: "bad" }, " · does not answer")));
    const drawn = chart(past.get(move.name) ?? [], move.name);
    return [title, drawn ? el("tr", {}, el("td", { colspan: 4, class: "chart" }, drawn)) : null, ...["forward", "backward"].map((way, i) => el("tr", {},
      el("td", {}, `${ends[i].node} → ${ends[1 - i].node}`),
      el("td", { class: "num" }, rateText(move[way].bps === null ? null : Number(move[way].bps.toPrecision(3)))),
      el("td", { class: "num" }, move[way].queue ? `${count(move[way].queue.packets)} (${sizeText(move[way].queue.bytes)})` : "–"),
      el("td", { class: "num" }, count(move[way].packets))))];
  });
  return el("table", { "aria-label": "Links" }, el("thead", {}, head), el("tbody", {}, rows));
}

// Devices, their addresses, and what is at the other end of each; an Open vSwitch has numbers for its ports.
function nodeTable(overview) {
  const others = new Map(overview.links.flatMap(({ name, ends }) => ends.map((end, i) => [`${end.node} ${end.device}`, [ends[1 - i].node, name]])));
  const heads = ["node", "port", "device", "address", "to", "link"];
  const rows = Object.entries(overview.nodes).flatMap(([name, node]) => {
    const ports = Object.entries(node.ports ?? {}), state = node.off ? " (off)" : node.cpu >= .3 ? ` (${Math.round(node.cpu * 100)} % of a core)` : "";
    return (ports.length ? ports : [["", []]]).map(([device, addresses], i) => {
      const [other, link] = others.get(`${name} ${device}`) ?? ["", ""], number = node.type === "ovs" ? Number(device.slice(3)) + 1 : "";
      return el("tr", {}, [i ? "" : `${name}: ${node.type}${state}`, number, device, addresses.join(" "), other, link].map((value, i) =>
        el("td", { class: i === 1 ? "num" : null }, String(value))));
    });
  });
  return el("table", { "aria-label": "Nodes" }, el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { class: i === 1 ? "num" : null }, head)))),
    el("tbody", {}, rows));
}

const flowKey = (row) => `${row.table} ${row.priority} ${row.match}`;

// Rows whose packets have grown since the last look are marked.
function flowRows(told, before) {
  const was = new Map((before?.rows ?? []).map((row) => [flowKey(row), row.packets]));
  const tables = new Set(told.rows.map((row) => row.table)).size > 1;
  const names = [...(tables ? ["table"] : []), "priority", "match", "actions", "packets"];
  const rows = told.rows.map((row) => {
    const values = [...(tables ? [row.table] : []), row.priority, (row.told ?? row).match || "any",
      (row.told ?? row).actions, count(row.packets)];
    const grown = before && row.packets !== null && row.packets > (was.get(flowKey(row)) ?? 0);
    return el("tr", { class: grown ? "more" : null }, values.map((value, i) =>
      el("td", { class: ["match", "actions"].includes(names[i]) ? "wide" : "num" }, String(value))));
  });
  const said = told.total > told.rows.length ? el("p", { class: "quiet" }, `The first ${told.rows.length} of ${count(told.total)} flows.`)
    : told.rows.length ? null : el("p", { class: "quiet" }, `${told.switch} has no flows.`);
  return [said, told.rows.length ? el("table", { "aria-label": "Flows" }, el("thead", {}, el("tr", {}, names.map((name) =>
    el("th", { class: ["match", "actions"].includes(name) ? null : "num" }, name)))), el("tbody", {}, rows)) : null].filter(Boolean);
}
