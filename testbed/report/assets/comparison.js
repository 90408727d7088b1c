// The run against published profiles, row by row, with the kind of claim.
const CLAIMS = "What agreement shows. reproduced: the same mechanism produced the number. shape: orderings and curvature are comparable, numbers are not. "
  + "calibrated: the number was an input of our emulation. data only: our emulation cannot show it; the numbers are only listed.";

const FEW_NOTES = 6;

function comparisonSection(data) {
  const parts = [];
  for (const each of data.comparison) {
    const notes = () => el("ul", {}, each.notes.map((text) => el("li", {}, text)));
    parts.push(el("h3", {}, each.name), el("p", { class: "quiet" }, each.citation), el("p", {}, el("strong", {}, each.summary)),
      plainTable(each.headers, each.rows, `Comparison with ${each.name}`, `comparison-${each.name}`),
      el("details", {}, el("summary", {}, "Point by point"), plainTable(each.point_headers, each.points,
        `Points of ${each.name}`, `points-${each.name}`)),
      each.notes.length <= FEW_NOTES ? notes() : folded(`notes-${each.name}`, `${each.notes.length} remarks`, notes));
  }
  const transfers = () => plainTable(data.window_comparison.headers, data.window_comparison.rows, "Transfers by window, published and ours",
    "comparison-windows");
  if (data.window_comparison) parts.push(el("h3", {}, "Transfer by window"),
    foldedIfLong("comparison-windows", "transfers, published and ours", data.window_comparison.rows, transfers),
    el("ul", {}, data.window_comparison.notes.map((text) => el("li", {}, text))));
  if (parts.length) parts.push(el("p", { class: "quiet" }, CLAIMS));
  const reasons = () => el("ul", {}, data.not_compared.map(({ name, why }) => el("li", {}, `${name}: ${why.join("; ")}`)));
  const count = `${data.not_compared.length} published profile${data.not_compared.length === 1 ? "" : "s"}`;
  if (!parts.length && !data.not_compared.length) parts.push(el("p", { class: "quiet" }, "There is nothing to compare: no trial has a goodput that can be used."));
  else if (!parts.length) parts.push(el("p", {}, `Nothing in this run can be compared with any of ${count}. `
    + "A run can be if its RTTs reach from below a published one to above it:"), reasons());
  else if (data.not_compared.length) parts.push(folded("not-compared", `${count} that nothing in this run can be compared with, and why`, reasons));
  return { node: section("comparison", "Comparison with published results", parts), update() {} };
}
