// Puts the page together, and brings it up to date when something is chosen, the theme changes or the run goes on.
const SECTIONS = [["findings", "What came out", findingsSection], ["comparison", "Comparison", comparisonSection],
  ["trust", "Trust", trustSection], ["inside", "Inside a trial", insideSection], ["network", "Network", networkSection],
  ["provenance", "Provenance", provenanceSection]];
let parts = [];

function pageHeader(data) {
  const go = (id) => (event) => {
    event.preventDefault();
    state.set({ sec: id });
    document.getElementById(id).scrollIntoView();
    document.getElementById(id + "-title").focus({ preventScroll: true });
  };
  const turn = el("button", { type: "button", id: "theme", onclick: () => state.set({ theme: theme() === "dark" ? "light" : "dark" }) }, "");
  const head = [el("h1", {}, data.run.name), el("p", { id: "verdict" }, el("span", { class: `badge ${data.verdict.level}` },
    WORDS[data.verdict.level]), " ",
    data.run.done < data.run.trials ? `${data.run.done} of ${data.run.trials} trials have ended. ` : "", data.verdict.text), ...data.about.map((text) => el("p", { class: "quiet" }, text)),
  ...data.notes.map((text) => el("p", { class: "note" }, text))];
  const nav = el("nav", { "aria-label": "Sections" }, el("div", { class: "crowd apart" }, el("div", { class: "crowd" },
    SECTIONS.map(([id, title]) => el("a", { href: "#sec=" + id, onclick: go(id) }, title))), turn));
  document.getElementById("top").replaceChildren(...head);
  return { node: nav, update() {
    document.documentElement.dataset.theme = theme();
    turn.textContent = theme() === "dark" ? "Light" : "Dark";
    turn.setAttribute("aria-label", `Change to the ${theme() === "dark" ? "light" : "dark"} theme`);
  } };
}

let working = Promise.resolve();
function update() {
  working = working.then(async () => {
    for (const part of parts) await part.update();
    document.body.dataset.ready = "yes";
  });
  return working;
}

function show(data) {
  charts.clear();
  const header = pageHeader(data);
  const made = SECTIONS.map(([, , make]) => make(data));
  parts = [header, ...made];
  document.getElementById("main").replaceChildren(header.node, ...made.map((part) => part.node));
  return update();
}

// What is folded is printed, too.
addEventListener("beforeprint", () => document.querySelectorAll("main details:not([open])").forEach((each) => {
  each.fill?.();
  each.open = each.wasShut = true;
}));
addEventListener("afterprint", () => document.querySelectorAll("main details[open]").forEach((each) => {
  if (each.wasShut) each.open = each.wasShut = false;
}));

function scrollToAsked() {
  const asked = document.getElementById(state.get("sec"));
  if (asked) asked.scrollIntoView();
}

state.listen(update);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
let width = innerWidth, later = 0;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  if (width > WIDE) document.querySelectorAll("details.options").forEach((each) => { each.open = true; });
  clearTimeout(later);
  later = setTimeout(update, 150);
});
show(JSON.parse(document.getElementById("data").textContent)).then(scrollToAsked);
