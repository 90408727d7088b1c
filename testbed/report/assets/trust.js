// Whether the run can be trusted: verdicts and reasons, values asked for and observed, versions, scripts.
const WORDS = { valid: "✓ valid", suspect: "! suspect", invalid: "✗ invalid" };
const badge = (verdict, count) => el("span", { class: `badge ${verdict}` },
  count === undefined ? WORDS[verdict] : `${WORDS[verdict].split(" ")[0]} ${count} ${verdict}`);

async function showScript(data, number) {
  const dialog = document.getElementById("script");
  const scripts = await unpack(data.scripts);
  const text = scripts.plans[number].map((line) => scripts.lines[line]).join("\n") + "\n";
  const id = data.trials[number].id;
  dialog.replaceChildren(el("div", { class: "crowd apart" }, el("h3", { id: "script-title" }, `The plan of ${id}`),
    el("button", { type: "button", onclick: () => dialog.close() }, "Close")),
  el("p", { class: "quiet" }, "These commands built its network. You can paste them into a root shell."),
  el("div", { class: "crowd" }, el("button", { type: "button", onclick: () => save(fileName(id) + ".sh", text, "text/x-shellscript") },
    "Save"), navigator.clipboard ? el("button", { type: "button", onclick: () => navigator.clipboard.writeText(text) }, "Copy") : null),
  el("pre", { tabindex: "0" }, text));
  dialog.showModal();
}

function openInside(id) {
  state.set({ trial: id, zt: null });
  document.getElementById("inside").scrollIntoView();
}

function trialLinks(data, number) {
  const trial = data.trials[number];
  return el("span", { class: "crowd" },
    el("button", { type: "button", class: "plain", "aria-label": `Script of ${trial.id}`, onclick: () => showScript(data, number) }, "script"),
    number in data.inside ? el("button", { type: "button", class: "plain", "aria-label": `Inside ${trial.id}`,
      onclick: () => openInside(trial.id) }, "inside") : null);
}

function trustSection(data) {
  const numbered = data.trials.map((trial, number) => ({ trial, number }));
  const doubtful = numbered.filter(({ trial }) => trial.findings.length);
  const reasons = doubtful.flatMap(({ trial, number }) => trial.findings.map(([check, verdict, text, hint]) =>
    ({ trial, number, check, verdict, text, hint })));
  const parts = [el("p", { class: "crowd" }, Object.entries(data.counts).map(([verdict, count]) => badge(verdict, count)),
    data.run.failed.length ? el("span", { class: "badge invalid" }, `${data.run.failed.length} failed`) : null)];
  parts.push(el("ul", {}, data.agreement.map((text) => el("li", {}, text))));
  if (data.run.failed.length) parts.push(el("h3", {}, "Failed trials and their reasons"),
    plainTable(["trial", "reason"], data.run.failed, "Failed trials", "failed"));
  const [doubts, notes] = [reasons.filter((row) => row.verdict !== "valid"), reasons.filter((row) => row.verdict === "valid")];
  const table = (rows, label, name) => dataTable({ label, name, rows, columns: [
    { name: "trial", get: (row) => row.trial.id, wide: true },
    { name: "verdict", get: (row) => row.verdict, show: (row) => row.verdict === "valid" ? "note" : badge(row.verdict) },
    { name: "check", get: (row) => row.check },
    { name: "reason", get: (row) => row.text, wide: true },
    { name: "hint", get: (row) => row.hint, wide: true },
    { name: "look", get: () => "", show: (row) => trialLinks(data, row.number) },
  ] });
  if (doubts.length) parts.push(el("h3", {}, "Why trials are suspect or invalid"), table(doubts, "Doubts of the gate", "doubts"));
  else if (data.trials.length) parts.push(el("p", {}, "The gate has no doubt about any trial."));
  if (notes.length) {
    const list = el("div"), about = el("details", { ontoggle: () => about.open && !list.hasChildNodes() &&
      list.append(table(notes, "Remarks of the gate", "remarks")) }, el("summary", {}, `${notes.length} remarks of the gate that do not change a verdict`), list);
    parts.push(about);
  }
  const pair = (name, of, show) => [
    { name: `${name} asked`, get: (row) => of(row.trial)?.[0] ?? null, show: (row) => show(of(row.trial)?.[0]), number: true },
    { name: `${name} seen`, get: (row) => of(row.trial)?.[1] ?? null, show: (row) => show(of(row.trial)?.[1]), number: true },
  ];
  const buffer = (row) => row.trial.queue[0] === null ? "–" : `${row.trial.queue[0]} ${row.trial.queue[1]}`;
  if (data.trials.length) parts.push(el("h3", {}, "Asked and seen"), dataTable({ label: "Asked against seen", name: "asked-and-seen",
    rows: numbered, most: 12, columns: [
      { name: "trial", get: (row) => row.trial.id, wide: true },
      { name: "verdict", get: (row) => row.trial.verdict, show: (row) => badge(row.trial.verdict) },
      { name: "goodput", get: (row) => row.trial.goodput, show: (row) => rateText(row.trial.goodput), number: true },
      ...pair("RTT", (trial) => trial.rtt, msText), ...pair("rate", (trial) => trial.rate, rateText),
      ...pair("drops", (trial) => trial.drops, (n) => n ?? "–"),
      ...[["random drops", "random_drops"], ["policed", "policed"]].filter(([, key]) => data.trials.some((trial) => trial[key]))
        .map(([name, key]) => ({ name, get: (row) => row.trial[key], number: true })),
      { name: "buffer asked", get: (row) => row.trial.queue[0], show: buffer, number: true },
      { name: "most packets queued", get: (row) => row.trial.queue[2], number: true },
      { name: "queue drops", get: (row) => row.trial.queue_drops, number: true },
      { name: "look", get: () => "", show: (row) => trialLinks(data, row.number) },
    ] }));
  parts.push(el("h3", {}, "What it ran with"),
    data.provenance.length > 1 ? el("p", { class: "note" }, `The trials did not all run with the same software and settings: there are ${
      data.provenance.length} combinations.`) : null,
    ...data.provenance.map((rows, number) => {
      const count = data.trials.filter((trial) => trial.ran_with === number).length;
      const table = plainTable(["what", "which"], rows, `Provenance ${number + 1}`, "provenance");
      return el("details", { open: data.provenance.length === 1 }, el("summary", {}, `${count} trial${count === 1 ? "" : "s"}`), table);
    }),
    el("p", {}, "Seeds: ", [...new Set(data.trials.map((trial) => trial.seed))].sort((a, b) => a - b).join(", ") || "none",
      ". Specification ", el("code", {}, data.run.digest), ". To repeat a trial and compare it byte for byte: ", el("code", {}, data.run.repeat)));
  return { node: section("trust", "Trust", parts), update() {} };
}
