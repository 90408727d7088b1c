// Puts the page together, and brings it up to date when something is chosen, the theme changes or the run goes on.
const SECTIONS = [["network", "Network", networkSection], ["trust", "Trust", trustSection], ["findings", "Findings", findingsSection],
  ["comparison", "Comparison", comparisonSection], ["inside", "Inside a trial", insideSection]];
let parts = [];

function pageHeader(data) {
  const go = (id) => (event) => {
    event.preventDefault();
    state.set({ sec: id });
    document.getElementById(id).scrollIntoView();
    document.getElementById(id + "-title").focus({ preventScroll: true });
  };
  const turn = el("button", { type: "button", id: "theme", onclick: () => state.set({ theme: theme() === "dark" ? "light" : "dark" }) }, "");
  const done = `${data.run.done} of ${data.run.trials} trial${data.run.trials === 1 ? "" : "s"}`;
  const head = [el("h1", {}, data.run.name), el("p", { class: "crowd" }, el("span", { class: "quiet" }, done),
    Object.entries(data.counts).filter(([, count]) => count).map(([verdict, count]) => badge(verdict, count)),
    el("span", { class: "quiet" }, `testbed ${data.run.testbed}`)), ...data.notes.map((text) => el("p", { class: "note" }, text))];
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
  clearTimeout(later);
  later = setTimeout(update, 150);
});
show(JSON.parse(document.getElementById("data").textContent)).then(scrollToAsked);
