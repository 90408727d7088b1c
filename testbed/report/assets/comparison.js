// The run against published profiles, row by row, with the kind of claim.
const CLAIMS = "What agreement shows. reproduced: the same mechanism produced the number. shape: orderings and curvature are comparable, numbers are not. "
  + "calibrated: the number was an input of our emulation. data only: our emulation cannot show it; the numbers are only listed.";

function comparisonSection(data) {
  const parts = [];
  for (const each of data.comparison) {
    parts.push(el("h3", {}, each.name), el("p", { class: "quiet" }, each.citation), el("p", {}, el("strong", {}, each.summary)),
      plainTable(each.headers, each.rows, `Comparison with ${each.name}`, `comparison-${each.name}`),
      el("details", {}, el("summary", {}, "Point by point"), plainTable(each.point_headers, each.points,
        `Points of ${each.name}`, `points-${each.name}`)),
      el("ul", {}, each.notes.map((text) => el("li", {}, text))));
  }
  if (data.window_comparison) parts.push(el("h3", {}, "Transfer by window"), plainTable(data.window_comparison.headers,
    data.window_comparison.rows, "Transfers by window, published and ours", "comparison-windows"),
  el("ul", {}, data.window_comparison.notes.map((text) => el("li", {}, text))));
  if (parts.length) parts.push(el("p", { class: "quiet" }, CLAIMS));
  else parts.push(el("p", { class: "quiet" }, "This run has nothing that is comparable with the published profiles: they have throughput ",
    "over the round-trip time, and transfers by window. ", el("code", {}, "testbed compare DIR PROFILE"), " gives the reason."));
  return { node: section("comparison", "Comparison with published results", parts), update() {} };
}
