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

function linkTable(all) {
  const head = el("tr", {}, ["direction", "rate", "waiting", "packets"].map((name, i) => el("th", { class: i ? "num" : null }, name)));
  const rows = all.flatMap((move) => {
    const { ends, asked, seen } = move.link;
    const dropped = seen?.drops ? el("span", { class: "bad" }, ` · ${count(seen.drops)} dropped`) : null;
    const title = el("tr", { class: "link" }, el("th", { colspan: 4 }, move.name, " ",
      el("span", { class: "quiet" }, askedText(asked)), dropped, seen ? null : el("span", { class: "bad" }, " · does not answer")));
    return [title, ...["forward", "backward"].map((way, i) => el("tr", {},
      el("td", {}, `${ends[i].node} → ${ends[1 - i].node}`),
      el("td", { class: "num" }, rateText(move[way].bps === null ? null : Number(move[way].bps.toPrecision(3)))),
      el("td", { class: "num" }, move[way].queue ? `${count(move[way].queue.packets)} (${sizeText(move[way].queue.bytes)})` : "–"),
      el("td", { class: "num" }, count(move[way].packets))))];
  });
  return el("table", { "aria-label": "Links" }, el("thead", {}, head), el("tbody", {}, rows));
}

const flowKey = (row) => `${row.table} ${row.priority} ${row.match}`;

// Rows whose packets have grown since the last look are marked.
function flowRows(told, before) {
  const was = new Map((before?.rows ?? []).map((row) => [flowKey(row), row.packets]));
  const tables = new Set(told.rows.map((row) => row.table)).size > 1;
  const names = [...(tables ? ["table"] : []), "priority", "match", "actions", "packets"];
  const rows = told.rows.map((row) => {
    const values = [...(tables ? [row.table] : []), row.priority, row.match || "any", row.actions, count(row.packets)];
    const grown = before && row.packets !== null && row.packets > (was.get(flowKey(row)) ?? 0);
    return el("tr", { class: grown ? "more" : null }, values.map((value, i) =>
      el("td", { class: ["match", "actions"].includes(names[i]) ? "wide" : "num" }, String(value))));
  });
  const said = told.total > told.rows.length ? el("p", { class: "quiet" }, `The first ${told.rows.length} of ${count(told.total)} flows.`)
    : told.rows.length ? null : el("p", { class: "quiet" }, `${told.switch} has no flows.`);
  return [said, told.rows.length ? el("table", { "aria-label": "Flows" }, el("thead", {}, el("tr", {}, names.map((name) =>
    el("th", { class: ["match", "actions"].includes(name) ? null : "num" }, name)))), el("tbody", {}, rows)) : null].filter(Boolean);
}
