// Which trial or series a row is about, which series are shown, and how each looks.
// A column for each parameter that varies among trials, and the seed; the whole name is in the CSV only.
function trialColumns(data, of = (row) => row) {
  return [{ name: "trial", get: (row) => of(row).id, hidden: true }, ...paramColumns(data.keys, of),
    ...(hasSeeds(data) ? [{ name: "seed", get: (row) => of(row).seed, number: true }] : [])];
}

function paramColumns(keys, of = (row) => row) {
  return keys.map((key) => ({ name: key.name, get: (row) => of(row).params[key.key] ?? "", param: true,
    order: (row) => key.values.indexOf(of(row).params[key.key] ?? "") }));
}

const hasSeeds = (data) => !data.keys.length || new Set(data.trials.map((trial) => trial.seed)).size > 1;
const trialWords = (data, trial) => [...data.keys.map((key) => wordOf(key.key, trial.params[key.key] ?? "–")),
  ...(hasSeeds(data) ? [`seed ${trial.seed}`] : [])].join(", ");

const foldedIfLong = (name, words, rows, make) => rows.length <= FEW_SERIES ? make() : folded(name, `${rows.length} ${words}`, make);

const sameLine = (data) => data.same.length ? el("p", { class: "quiet" }, "The same in all trials: ",
  data.same.map(([name, value]) => `${name} ${value}`).join(", "), ".") : null;

const FEW_SERIES = 20;

// Choices that a narrow screen folds, so that the figure comes first.
const WIDE = 640;
const options = (words, ...nodes) => el("details", { class: "options", open: innerWidth > WIDE }, el("summary", {}, words), nodes);

// The chosen values of each parameter, by the parameter's number; a hash without any shows what fits.
function filters(data) {
  const keys = data.keys.map((key, number) => ({ ...key, number })).filter((key) => key.is_rtt || key.is_apart);
  const usual = usualFilter(data, keys);
  const chosen = (key) => {
    const asked = state.get("f" + key.number);
    return asked === "" ? usual[key.number] ?? null : asked === "all" ? null : new Set(state.list("f" + key.number));
  };
  const passes = (params) => keys.every((key) => {
    const wanted = chosen(key);
    return !wanted || !(key.key in params) || wanted.has(key.values.indexOf(params[key.key]));
  });
  const boxes = [];
  const set = (key, number, on) => {
    const now = new Set(chosen(key) ?? key.values.map((_, i) => i));
    if (on) now.add(number); else now.delete(number);
    const all = now.size === key.values.length;
    state.set({ ["f" + key.number]: all ? (usual[key.number] ? "all" : null) : [...now].sort((a, b) => a - b).join(".") || "9999" });
  };
  const node = el("div", { class: "crowd controls", role: "group", "aria-label": "Which series are shown" }, keys.map((key) =>
    el("fieldset", { "data-key": key.key }, el("legend", {}, key.name), el("div", { class: "crowd" }, key.values.map((value, i) => {
      const box = checkbox(value || "(none)", () => !chosen(key) || chosen(key).has(i), (on) => set(key, i, on));
      boxes.push(box);
      return box.node;
    }), key.values.length > 2 ? el("button", { type: "button", "aria-label": `All values of ${key.name}`,
      onclick: () => state.set({ ["f" + key.number]: usual[key.number] ? "all" : null }) }, "all") : null))));
  return { node: keys.length ? options("Choose what is shown", node) : null, passes, sync: () => boxes.forEach((box) => box.sync()), limited: Object.keys(usual).length > 0 };
}

// Of more series than one can tell apart, those are shown that have the first value of a parameter: of the one that
// leaves the most, but few enough; of several parameters if one is not enough.
function usualFilter(data, keys) {
  const usual = {};
  let left = data.series.filter((one) => one.points.length);
  while (left.length > FEW_SERIES) {
    const cuts = keys.filter((key) => key.is_apart && !(key.number in usual)).map((key) => {
      const first = key.values.findIndex((value) => left.some((one) => one.params[key.key] === value));
      return { key, first, left: left.filter((one) => one.params[key.key] === key.values[first]) };
    }).filter((cut) => cut.left.length < left.length);
    if (!cuts.length) break;
    const enough = cuts.filter((cut) => cut.left.length <= FEW_SERIES);
    const size = (cut) => (enough.length ? -cut.left.length : cut.left.length);
    const best = (enough.length ? enough : cuts).reduce((a, b) => (size(b) < size(a) ? b : a));
    usual[best.key.number] = new Set([best.first]);
    left = best.left;
  }
  return usual;
}

// Colour by the first parameter that varies in what is shown, line by the second, mark by the others.
function looks(series, data) {
  const keys = data.keys.filter((key) => new Set(series.map((one) => one.params[key.key])).size > 1).map((key) => key.key);
  const place = (one, key) => key === undefined ? 0 : data.keys.find((each) => each.key === key).values.indexOf(one.params[key]);
  const names = (key) => [...new Set(series.map((one) => place(one, key)))].sort((a, b) => a - b);
  const [first, second, third] = keys;
  const colours = palette(), rank = (one, key) => Math.max(0, names(key).indexOf(place(one, key)));
  const words = (some) => (one) => some.map((key) => wordOf(key, one.params[key])).join(", ");
  const group = words(keys.slice(0, 2)), mark = words(third === undefined ? keys.slice(0, 2) : keys.slice(2));
  const of = (word) => [...new Map(series.map((one) => [word(one), one])).values()];
  return {
    label: words(keys), group, mark, hasMarks: third !== undefined,
    groups: of(group).map((one) => ({ word: group(one), colour: colours[rank(one, first) % colours.length],
      dash: DASHES[(second ? rank(one, second) : Math.floor(rank(one, first) / colours.length)) % DASHES.length] })),
    marks: of(mark).map((one, i) => ({ word: mark(one), shape: SHAPES[(third === undefined ? rank(one, second ?? first) : i) % SHAPES.length] })),
    fields: (one) => ({ series: words(keys)(one) || one.label, group: group(one), mark: mark(one) }),
  };
}

function wordOf(key, value) {
  const name = key.split(".").pop();
  if (name === "flows") return `${value} flow${value === "1" ? "" : "s"}`;
  return ["window", "loss", "rate", "buffer", "kernel"].includes(name) ? `${name} ${value}` : String(value);
}

function seriesEncoding(look, legend) {
  const title = null, domain = look.groups.map((each) => each.word);
  const shown = domain.length > 1 ? { orient: legend.orient, columns: legend.columns, title, symbolType: "stroke", symbolSize: 400, symbolStrokeWidth: 2.2 } : null;
  const marks = look.marks.map((each) => each.word);
  const scale = (range) => ({ domain, range: look.groups.map((each) => each[range]) });
  return {
    detail: { field: "series" },
    color: { field: "group", type: "nominal", scale: scale("colour"), legend: shown, title, sort: domain },
    strokeDash: { field: "group", type: "nominal", scale: scale("dash"), legend: shown, title, sort: domain },
    shape: { field: "mark", type: "nominal", scale: { domain: marks, range: look.marks.map((each) => each.shape) }, title, sort: marks,
      legend: look.hasMarks ? { orient: legend.orient, columns: legend.orient === "bottom" ? 3 : 1, title } : null },
  };
}
// Beside the plot where there is room for its words, else below.
const letters = (words) => 7 * Math.max(0, ...words.map((word) => word.length));
function legendPlace(width, words) {
  const wide = letters(words) + 50;
  if (words.length < 2) return { orient: "right", columns: 1, plot: Math.max(180, width - 70) };
  if (wide < .45 * width && width > 700) return { orient: "right", columns: 1, plot: width - 75 - wide };
  return { orient: "bottom", columns: Math.max(1, Math.floor(width / wide)), plot: Math.max(180, width - 70) };
}
const wordsOf = (look) => [...look.groups, ...(look.hasMarks ? look.marks : [])].map((each) => each.word);
