// Asks the testbed on this computer again and again what its networks do, and shows it.
const state = new Map(); // no settings: the theme is that of the system
const ASK_MS = 1000;
const part = (id) => document.getElementById(id);
let wanted = null, before = null, now = null, drawn = null, drawing = null, panel = "links", flows = null, flowSwitch = null, logNode = null;
let past = new Map();

function showDrawing(picture) {
  const box = part("drawing"), key = JSON.stringify([picture, box.clientWidth, box.clientHeight, theme()]);
  if (key === drawn) return;
  drawn = key;
  drawing = drawNetwork(picture, box.clientWidth, box.clientHeight, (spot) => {
    if (spot.mark && picture.spots.some((each) => each.name === spot.name && each.type === "ovs")) flowSwitch = spot.name;
    openTerminal(now.name, spot.name).catch((error) => problem(error.message));
  }, (name) => { const move = moves(now, before).find((each) => each.name === name); if (move) pull(move); });
  box.replaceChildren(drawing.svg);
}

function problem(text) { part("problem").textContent = text; }

async function pull(move) {
  try {
    const told = await (await fetch("link", { method: "POST", signal: AbortSignal.timeout(PATIENCE_MS),
      body: JSON.stringify({ network: now.name, link: move.name, down: !move.isDown }) })).json();
    problem(told.error ?? "");
  } catch (error) { problem(error.message); }
}

const PANELS = ["links", "nodes", "flows", "log"];
function showTabs() {
  for (const each of PANELS) part(`show-${each}`).setAttribute("aria-selected", panel === each);
}

function showState(told) {
  part("choose").hidden = told.networks.length < 2;
  const names = [...part("networks").options].map((option) => option.value);
  if (names.join("\n") !== told.networks.join("\n")) part("networks").replaceChildren(...told.networks.map((name) => el("option", { value: name }, name)));
  if (!told.overview) {
    part("name").textContent = told.only ?? "testbed watch";
    part("about").textContent = "";
    before = now = drawn = drawing = null;
    part("events").replaceChildren();
    part("panel").replaceChildren();
    part("drawing").replaceChildren(el("p", {}, told.only ? `The network ${told.only} is not up; the page waits for it.` : "No network is up; the page waits for one."));
    return;
  }
  part("networks").value = told.shown;
  const seen = told.overview;
  if (now && (now.name !== seen.name || now.since !== seen.since)) { now = null; flows = null; flowSwitch = null; logNode = null; past = new Map(); }
  if (!now || now.clock_s !== seen.clock_s || seen.clock_s === null) { before = now; now = seen; }
  part("name").textContent = seen.name;
  document.title = `${seen.name}: testbed watch`;
  part("about").textContent = `topology ${seen.topology}, kernel ${seen.kernel}, up since ${new Date(seen.since).toLocaleTimeString("en-GB")}, ${
    Math.round(seen.memory_bytes / 2 ** 20)} MiB; a click on a node opens a terminal`;
  part("events").replaceChildren(...seen.events.map((event) => el("li", {}, event)));
  showDrawing(told.picture);
  const all = moves(now, before);
  drawing.update(all);
  remember(past, all, seen.clock_s);
  if (panel === "links") showLinks(all);
  if (panel === "nodes") part("panel").replaceChildren(nodeTable(seen));
}

function showLinks(all) {
  if (!part("panel").contains(document.activeElement) || !document.activeElement.matches(".pull:active")) {
    const at = part("panel").scrollTop, held = document.activeElement?.getAttribute("aria-label");
    part("panel").replaceChildren(linkTable(all, past, pull));
    part("panel").scrollTop = at;
    if (held) [...part("panel").querySelectorAll(".pull")].find((each) => each.getAttribute("aria-label") === held)?.focus();
  }
}

async function showLog() {
  const logged = Object.entries(now?.nodes ?? {}).filter(([, node]) => ["controller", "ovs"].includes(node.type) || node.routing || node.services);
  if (!logged.length) { part("panel").replaceChildren(el("p", { class: "quiet" }, "No node of this network has a log.")); return; }
  const names = logged.sort(([, a], [, b]) => (b.type === "controller") - (a.type === "controller")).map(([name]) => name);
  if (!names.includes(logNode)) logNode = names[0];
  const asked = logNode, told = await ask(`log?${new URLSearchParams({ network: now.name, node: asked })}`);
  if (panel !== "log" || asked !== logNode) return;
  const picked = choice("log of ", names.map((name) => [name, name]), () => logNode, (name) => { logNode = name; showLog(); });
  picked.sync();
  if (part("panel").querySelector("select") === document.activeElement && document.activeElement !== document.body) return; // somebody is choosing
  const box = part("panel"), isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 30, at = box.scrollTop;
  box.replaceChildren(el("p", {}, picked.node), told.error ? el("p", { class: "bad" }, told.error)
    : el("pre", { class: "log", "aria-label": "Log" }, told.text || `${asked} has said nothing.`));
  box.scrollTop = isAtEnd ? box.scrollHeight : at;
}

async function showFlows() {
  const switches = Object.entries(now?.nodes ?? {}).filter(([, node]) => node.type === "ovs").map(([name]) => name);
  if (!switches.length) { part("panel").replaceChildren(el("p", { class: "quiet" }, "This network has no Open vSwitch.")); return; }
  if (!switches.includes(flowSwitch)) flowSwitch = switches[0];
  const asked = flowSwitch;
  const told = await ask(`flows?${new URLSearchParams({ network: now.name, node: asked })}`);
  if (panel !== "flows" || asked !== flowSwitch) return;
  const picked = choice("switch ", switches.map((name) => [name, name]), () => flowSwitch, (name) => { flowSwitch = name; flows = null; showFlows(); });
  picked.sync();
  const held = part("panel").querySelector("select") === document.activeElement && document.activeElement !== document.body;
  if (held) return; // somebody is choosing
  part("panel").replaceChildren(el("p", {}, picked.node), ...(told.error ? [el("p", { class: "bad" }, told.error)]
    : flowRows(told, flows?.switch === told.switch ? flows : null)));
  if (!told.error) flows = told;
}

const PATIENCE_MS = 15000;
async function ask(path) { return (await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) })).json(); }

function setTheme() { document.documentElement.dataset.theme = theme(); }

part("networks").addEventListener("change", (event) => { wanted = event.target.value; flows = null; event.target.blur(); });
for (const each of PANELS) part(`show-${each}`).addEventListener("click", () => {
  panel = each;
  showTabs();
  part("panel").replaceChildren();
  if (each === "flows") showFlows().catch(() => {});
  else if (each === "log") showLog().catch(() => {});
  else if (now && each === "nodes") part("panel").replaceChildren(nodeTable(now));
  else if (now) showLinks(moves(now, before));
});
const redraw = () => { if (drawing && last?.picture) { showDrawing(last.picture); drawing.update(moves(now, before)); } };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { setTheme(); redraw(); });
new ResizeObserver(redraw).observe(part("drawing"));
let last = null;
setTheme();
showTabs();
(async () => {
  for (let failed = 0; ;) {
    try {
      const told = await ask(`state?${new URLSearchParams(wanted === null ? {} : { network: wanted })}`);
      failed = 0;
      last = told;
      showState(told);
      problem(told.error ?? "");
      if (panel === "flows" && now) await showFlows();
      if (panel === "log" && now) await showLog();
      document.body.dataset.ready = "";
    } catch (error) {
      if (error.name === "TimeoutError") problem("the network does not answer");
      else if (++failed > 2) problem("testbed watch has ended: this page shows its last state");
    }
    await rest(ASK_MS);
  }
})();
