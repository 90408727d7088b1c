// A figure: a Vega-Lite chart with its title, its caption, its data as a table, and files to save.
const charts = new Map();

const tip = el("div", { id: "tip", hidden: true });
document.body.append(tip);
function showTip(handler, event, item, value) {
  tip.hidden = value === null || value === undefined || value === "";
  if (tip.hidden) return;
  tip.textContent = typeof value === "object" ? Object.entries(value).map(([k, v]) => `${k}: ${v}`).join("\n") : String(value);
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
}

function figure(id, title, caption, tools, controls) {
  const plot = el("div", { class: "plot" });
  const table = el("div");
  const details = el("details", { ontoggle: () => details.open && fill() }, el("summary", {}, "Data as a table"), table);
  const note = el("figcaption", {});
  note.append(caption);
  let rows = () => [];
  function fill() {
    const found = rows();
    const names = found.length ? Object.keys(found[0]) : [];
    table.replaceChildren(dataTable({ rows: found, label: `Data: ${title}`, most: 50,
      columns: names.map((name) => ({ name, get: (row) => row[name], number: typeof found[0][name] === "number" })) }));
  }
  details.fill = fill; // before printing, too
  const files = [...tools, ["CSV", () => save(fileName(id) + ".csv", csv(rows()), "text/csv")]];
  const node = el("figure", { id, "aria-labelledby": id + "-title" },
    el("div", { class: "bar" }, el("h3", { id: id + "-title" }, title), el("div", { class: "tools" }, files.map(([name, act]) =>
      el("button", { type: "button", "aria-label": `${title}: save as ${name}`, onclick: act }, name)))),
    controls, plot, note, details);
  return { node, plot, caption: (text) => note.replaceChildren(text), rows(call) { rows = call; if (details.open) fill(); } };
}

// make(width) gives {spec, rows(), caption?, zoom?: {params, done(ends)}}, or {nothing: text}.
function chart({ id, title, caption = "", controls = null, make, click }) {
  let view = null, last = null, running = Promise.resolve();
  const made = figure(id, title, caption, [
    ["SVG", async () => view && save(fileName(id) + ".svg", await view.toSVG(), "image/svg+xml")],
    ["PNG", async () => view && save(fileName(id) + ".png", await view.toImageURL("png", 2))],
  ], controls);
  async function draw(force) {
    const width = Math.max(240, made.plot.clientWidth - 8);
    const found = make(width);
    const text = JSON.stringify([found.nothing, found.spec, theme(), width]);
    made.rows(found.rows ?? (() => []));
    if (found.caption) made.caption(found.caption);
    if (text === last && !force) return;
    last = text;
    view?.finalize();
    view = null;
    if (found.nothing) {
      made.plot.replaceChildren(el("p", { class: "quiet" }, found.nothing));
      return;
    }
    const spec = vegaLite.compile({ $schema: "https://vega.github.io/schema/vega-lite/v6.json", autosize: { type: "pad" },
      description: `${title}. ${typeof caption === "string" ? caption : ""}`, ...found.spec, config: vegaConfig() },
    { logger: vega.logger(vega.Error) }).spec;
    made.plot.replaceChildren();
    view = new vega.View(vega.parse(spec), { renderer: "svg", container: made.plot, hover: true, logLevel: vega.Error });
    view.tooltip(showTip);
    if (click) view.addEventListener("click", (event, item) => item?.datum && click(item.datum));
    await view.runAsync();
    if (found.zoom) listenToBrush(view, made.plot, found.zoom);
  }
  const update = (force = false) => (running = running.then(() => draw(force)).catch((error) => {
    console.error(id, error);
    made.plot.replaceChildren(el("p", { class: "note" }, `This figure cannot be drawn: ${error.message}`));
  }));
  charts.set(id, { update });
  return { node: made.node, update };
}

function listenToBrush(view, plot, { params, done }) {
  let chosen = null;
  for (const name of params) {
    view.addSignalListener(name, (_, value) => { chosen = Object.values(value ?? {})[0] ?? null; });
  }
  plot.onpointerup = () => {
    if (chosen && chosen[1] > chosen[0]) done([Math.min(...chosen), Math.max(...chosen)]);
    chosen = null;
  };
}

const canBrush = () => !matchMedia("(pointer: coarse)").matches;
const brush = (name) => canBrush() ? [{ name, select: { type: "interval", encodings: ["x"] } }] : [];

// Fields and buttons that do what dragging over a chart does, for keyboards and fingers.
function zoomControls(key, unit, extent, factor = 1) {
  const [from, to] = ["from", "to"].map((word) => el("input", { type: "number", step: "any", "aria-label": `${word} (${unit})`,
    onchange: () => set([Number(from.value) / factor, Number(to.value) / factor]) }));
  const now = () => state.range(key) ?? extent();
  const digits = (value) => Number(value.toPrecision(5));
  const set = ([a, b]) => state.set({ [key]: Number.isFinite(a) && Number.isFinite(b) && b > a ? `${digits(a)}~${digits(b)}` : null });
  const by = (share, shift) => () => {
    const [a, b] = now(), half = (b - a) / 2 * share, middle = (a + b) / 2 + (b - a) * shift, all = extent();
    set([Math.max(all[0], middle - half), Math.min(all[1], middle + half)]);
  };
  const button = (text, label, act) => el("button", { type: "button", "aria-label": label, onclick: act }, text);
  const node = el("div", { class: "crowd controls", role: "group", "aria-label": "Zoom" }, "zoom", from, "to", to, unit,
    button("+", "Zoom in", by(.5, 0)), button("−", "Zoom out", by(2, 0)), button("←", "Earlier", by(1, -.25)),
    button("→", "Later", by(1, .25)), button("all", "Zoom out to everything", () => state.set({ [key]: null })));
  return { node, sync() {
    const [a, b] = now();
    from.value = digits(a * factor); to.value = digits(b * factor);
  } };
}
