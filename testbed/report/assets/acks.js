// The ACKs of senders: one panel for each thing, on one axis of time; the strip on top chooses the part that is shown.
const STRIP = 46, PANEL = 120, LEFT = 90;
const PANELS = [["cwnd", ["window, threshold", "(segments)"]], ["in_flight", ["in flight", "(segments)"]],
  ["pacing", ["pacing rate", "(Mbit/s)"]], ["srtt", ["smoothed RTT", "(ms)"]], ["ca_state", "recovery"]];
const STATES = "['Open','Disorder','CWR','Recovery','Loss'][datum.value]";

function spec(data, width) {
  const domain = [...new Set(data.acks.map((row) => row.series))];
  const x = { field: "t", type: "quantitative", title: null, scale: { domain: { param: "zoom" }, nice: false } };
  const color = { field: "series", type: "nominal", scale: { domain, range: palette().slice(0, domain.length) },
    legend: { orient: "top", direction: "vertical", title: null } };
  const chosen = [{ filter: { param: "zoom" } }];
  const line = (field, title, more = {}) => ({ transform: chosen, mark: { type: "line", interpolate: "step-after", clip: true, ...more },
    encoding: { x, y: { field, type: "quantitative", title, axis: { minExtent: LEFT - 50 } }, color } });
  const tooltip = ["series", "t", "event", "name", "value"].map((field) => ({ field }));
  const ticks = { data: { name: "events" }, transform: [...chosen, { filter: "datum.event !== 'window'" }],
    mark: { type: "tick", orient: "vertical", thickness: 1.5, clip: true, size: 9 },
    encoding: { x, y: { value: 5 }, color, tooltip, opacity: { condition: { test: "datum.event === 'retransmit'", value: .9 }, value: .35 } } };
  const strip = { width, height: STRIP, params: [{ name: "zoom", select: { type: "interval", encodings: ["x"] } }],
    mark: { type: "line", interpolate: "step-after" }, encoding: { x: { field: "t", type: "quantitative", title: null, scale: { nice: false } },
      y: { field: "cwnd", type: "quantitative", title: "choose", axis: { minExtent: LEFT - 50, ticks: false, labels: false } }, color } };
  const panels = PANELS.map(([field, title]) => {
    const own = line(field, title);
    if (field === "ca_state") Object.assign(own.encoding.y, { scale: { domain: [0, 4] }, axis: { values: [0, 1, 2, 3, 4], labelExpr: STATES, minExtent: LEFT - 50 } });
    const layer = field === "cwnd" ? [own, line("ssthresh", title, { strokeDash: [4, 3], opacity: .7 }), ticks] : [own];
    return { width, height: field === "ca_state" ? 70 : PANEL, layer };
  });
  const names = [...new Set(data.numbers.map((row) => row.name))];
  const numbers = names.map((name) => ({ width, height: 80, layer: [{ ...line("value", name), data: { name: "numbers" },
    transform: [{ filter: { field: "name", equal: name } }] }] }));
  const all = [strip, ...panels, ...numbers];
  const last = all[all.length - 1].layer[0].encoding;
  last.x = { ...last.x, title: "lab time since the workload began (s)" };
  return { data: { name: "acks" }, datasets: { acks: data.acks, events: data.events, numbers: data.numbers }, vconcat: all, spacing: 8,
    resolve: { scale: { color: "shared" } } };
}

const data = JSON.parse(document.getElementById("data").textContent);
const plot = el("div", { class: "plot", id: "acks" });
let view = null;
async function update() {
  document.documentElement.dataset.theme = theme();
  const width = Math.max(240, plot.clientWidth - LEFT - 30);
  const made = vegaLite.compile({ $schema: "https://vega.github.io/schema/vega-lite/v6.json", autosize: { type: "pad" },
    description: data.title, ...spec(data, width), config: vegaConfig() }, { logger: vega.logger(vega.Error) }).spec;
  view?.finalize();
  plot.replaceChildren();
  view = new vega.View(vega.parse(made), { renderer: "svg", container: plot, hover: true, logLevel: vega.Error });
  await view.runAsync();
  document.body.dataset.ready = "yes";
}

const picture = el("button", { type: "button", onclick: async () => view && save(fileName(data.title) + ".svg", await view.toSVG(), "image/svg+xml") }, "SVG");
document.getElementById("top").replaceChildren(el("h1", {}, data.title),
  el("p", { class: "quiet" }, "Draw over the strip to show a part of the time, down to single round trips; click beside it to show all. "
    + "Marks at the top of the first panel are segments that were sent again, and fainter ones changes of the state of recovery."),
  ...data.notes.map((text) => el("p", { class: "note" }, text)));
document.getElementById("main").replaceChildren(el("figure", {}, el("div", { class: "bar" }, el("div", { class: "tools" }, picture)), plot));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
update();
