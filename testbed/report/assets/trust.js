// Whether the run can be trusted: verdicts and reasons, values asked for and observed, scripts; and what it ran with.
const WORDS = { unfinished: "… unfinished", valid: "✓ valid", suspect: "! suspect", invalid: "✗ invalid" };
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

// Remarks that differ in nothing but the trial, the direction and the numbers, with ranges in place of those numbers.
function grouped(rows) {
  const number = /\d+(?:\.\d+)?/g, way = / (?:forward|backward)\b/g, groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.check, row.verdict, row.text.replace(way, " #").replace(number, "#"), row.hint.replace(number, "#")]);
    if (!groups.has(key)) groups.set(key, { check: row.check, first: row, trials: new Set(), texts: [] });
    groups.get(key).trials.add(row.number);
    groups.get(key).texts.push(row.text);
  }
  return [...groups.values()].map((group) => {
    const columns = group.texts.map((text) => text.match(number) ?? []);
    const ways = new Set(group.texts.map((text) => (text.match(way) ?? []).join()));
    let at = 0;
    const text = group.texts[0].replace(number, () => {
      const values = columns.map((found) => found[at]).sort((a, b) => a - b);
      at += 1;
      return values[0] === values.at(-1) ? values[0] : `${values[0]}–${values.at(-1)}`;
    }).replace(way, (own) => ways.size > 1 ? " forward and backward" : own).replace(/\bflow (\d+–)/g, "flows $1");
    return { ...group.first, ...group, text };
  }).sort((a, b) => b.trials.size - a.trials.size);
}

function trustSection(data) {
  const numbered = data.trials.map((trial, number) => ({ trial, number }));
  const doubtful = numbered.filter(({ trial }) => trial.findings.length);
  const reasons = doubtful.flatMap(({ trial, number }) => trial.findings.map(([check, verdict, text, hint]) =>
    ({ trial, number, check, verdict, text, hint })));
  const kinds = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const parts = [el("p", { class: "crowd" }, Object.entries(data.counts).filter(([, count]) => count)
    .map(([verdict, count]) => badge(verdict, count)), data.run.failed.length ? el("span", { class: "badge invalid" }, `${data.run.failed.length} failed`) : null)];
  if (data.rules.length) {
    const kept = data.rules.filter((rule) => rule.outcome === "passed").length;
    const table = () => dataTable({ label: "Rules of the scenario", name: "rules", rows: data.rules, columns: [
      { name: "rule", get: (row) => row.name },
      { name: "outcome", get: (row) => row.outcome, show: (row) => el("span", { class: `badge ${row.outcome === "passed" ? "valid" : "invalid"}` },
        `${row.outcome === "passed" ? "✓" : "✗"} ${row.outcome}`) },
      { name: "metric", get: (row) => row.metric },
      { name: "where", get: (row) => row.where, wide: true },
      { name: "asked", get: (row) => row.asked, wide: true },
      { name: "seen", get: (row) => row.range, wide: true },
      { name: "trials", get: (row) => row.trials, number: true },
      { name: "why not", get: (row) => row.why, wide: true },
    ] });
    parts.push(el("h3", {}, "Rules of the scenario"), el("p", {}, `${kept} of ${kinds(data.rules.length, "rule")} ${kept === 1 ? "holds" : "hold"}.`),
      kept < data.rules.length ? table() : folded("rules", "Each rule", table));
  }
  parts.push(el("ul", {}, data.agreement.map((text) => el("li", {}, text))));
  if (data.run.failed.length) parts.push(el("h3", {}, "Failed trials and their reasons"),
    plainTable(["trial", "reason"], data.run.failed, "Failed trials", "failed"));
  const [doubts, notes] = [reasons.filter((row) => row.verdict !== "valid"), reasons.filter((row) => row.verdict === "valid")];
  const verdict = { name: "verdict", get: (row) => row.verdict, show: (row) => badge(row.verdict) };
  const check = { name: "check", get: (row) => row.check };
  const reason = (word) => [{ name: word, get: (row) => row.text, wide: true }, { name: "hint", get: (row) => row.hint, wide: true }];
  const look = { name: "look", get: () => "", show: (row) => trialLinks(data, row.number) };
  const trials = { name: "trials", get: (row) => row.trials.size, show: (row) => row.trials.size === 1 && data.trials.length > 1
    ? trialWords(data, row.trial) : `${row.trials.size} of ${data.trials.length}` };
  if (doubts.length) parts.push(el("h3", {}, "Why trials are suspect or invalid"),
    dataTable({ label: "Doubts of the gate", name: "doubts-by-reason", rows: grouped(doubts), columns: [verdict, check, trials, ...reason("reason"), look] }),
    folded("doubts", `${kinds(doubts.length, "doubt")}, trial by trial`, () => [sameLine(data), dataTable({ label: "Doubts by trial", name: "doubts", rows: doubts,
      columns: [...trialColumns(data, (row) => row.trial), verdict, check, ...reason("reason"), look] })]));
  else if (data.trials.length) parts.push(el("p", {}, "The gate has no doubt about any trial."));
  if (notes.length) {
    const alike = grouped(notes), where = kinds(new Set(notes.map((row) => row.number)).size, "trial");
    parts.push(folded("remarks", `${kinds(alike.length, "remark")} of the gate that ${alike.length === 1 ? "does" : "do"} not change a verdict, in ${where}`,
      () => dataTable({ label: "Remarks of the gate", name: "remarks", rows: alike, columns: [check, trials, ...reason("remark"), look] })));
  }
  const pair = (name, of, show) => [
    { name: `${name} asked`, get: (row) => of(row.trial)?.[0] ?? null, show: (row) => show(of(row.trial)?.[0]), number: true },
    { name: `${name} seen`, get: (row) => of(row.trial)?.[1] ?? null, show: (row) => show(of(row.trial)?.[1]), number: true },
  ];
  const buffer = (row) => row.trial.queue[0] === null ? "–" : `${row.trial.queue[0]} ${row.trial.queue[1]}`;
  if (data.trials.length) parts.push(folded("asked-and-seen", "Asked and seen, trial by trial", () => [sameLine(data), dataTable({
    label: "Asked against seen", name: "asked-and-seen", rows: numbered, most: 12, columns: [...trialColumns(data, (row) => row.trial),
      { name: "verdict", get: (row) => row.trial.verdict, show: (row) => badge(row.trial.verdict) },
      { name: "goodput", get: (row) => row.trial.goodput, show: (row) => rateText(row.trial.goodput), number: true },
      ...pair("RTT", (trial) => trial.rtt, msText), ...pair("rate", (trial) => trial.rate, rateText),
      ...pair("drops", (trial) => trial.drops, (n) => n ?? "–"),
      ...[["random drops", "random_drops"], ["policed", "policed"], ["AQM drops", "aqm_drops"], ["filtered ACKs", "filtered_acks"], ["marks", "marks"]].filter(([, key]) => data.trials.some((trial) => trial[key]))
        .map(([name, key]) => ({ name, get: (row) => row.trial[key], number: true })),
      { name: "buffer asked", get: (row) => row.trial.queue[0], show: buffer, number: true },
      { name: "most packets queued", get: (row) => row.trial.queue[2], number: true },
      { name: "queue drops", get: (row) => row.trial.queue_drops, number: true }, look,
    ] })]));
  return { node: section("trust", "Trust", parts), update() {} };
}

// What it takes to repeat the run: software, settings, seeds and the command.
function provenanceSection(data) {
  const parts = [
    data.provenance.length > 1 ? el("p", { class: "note" }, `The trials did not all run with the same software and settings: there are ${
      data.provenance.length} combinations.`) : null,
    ...data.provenance.map((rows, number) => {
      const count = data.trials.filter((trial) => trial.ran_with === number).length;
      const table = plainTable(["what", "which"], rows, `Provenance ${number + 1}`, "provenance");
      return el("details", {}, el("summary", {}, `Software and settings of ${count} trial${count === 1 ? "" : "s"}`), table);
    }),
    el("p", {}, `Written by testbed ${data.run.testbed}. Seeds: `, [...new Set(data.trials.map((trial) => trial.seed))].sort((a, b) => a - b).join(", ") || "none",
      ". Specification ", el("code", {}, data.run.digest), ". To repeat a trial and compare it byte for byte: ", el("code", {}, data.run.repeat))];
  return { node: section("provenance", "Provenance", parts), update() {} };
}
