// The drawing of a network, as SVG with attributes only, so that it can be saved as it is.
const UNIT = 150, NAMED = 60, TOLD = 16;

function networkDrawing(network) {
  const big = network.spots.length > NAMED, told = network.lines.length <= TOLD;
  const unit = big ? 45 : UNIT, size = big ? 6 : 15;
  const facts = told ? Math.max(0, ...network.lines.map((line) => line.drawn.length)) : 0;
  const side = big ? 20 : 110, above = big ? 20 : 55, below = big ? 20 : 50 + 15 * facts;
  const at = Object.fromEntries(network.spots.map((spot) => [spot.name, [side + spot.x * unit, above + spot.y * unit]]));
  const width = 2 * side + unit * Math.max(...network.spots.map((spot) => spot.x));
  const height = above + below + unit * Math.max(...network.spots.map((spot) => spot.y));
  const words = `${network.name}: ${network.spots.length} nodes, ${network.lines.length} links`;
  const svg = svgEl("svg", { xmlns: "http://www.w3.org/2000/svg", width: Math.ceil(width), height: Math.ceil(height),
    viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: "img", "aria-label": words,
    "font-family": "system-ui, 'DejaVu Sans', sans-serif", "font-size": 13 });
  const card = css("card");
  svg.append(svgEl("rect", { width: "100%", height: "100%", fill: card }));
  const label = (x, y, lines, look = {}) => {
    const text = svgEl("text", { x, y, "text-anchor": "middle", fill: css("text"), stroke: card, "stroke-width": 4,
      "paint-order": "stroke", ...look });
    lines.forEach((line, i) => {
      const part = svgEl("tspan", { x, dy: i ? 15 : 0 });
      part.textContent = line;
      text.append(part);
    });
    return text;
  };
  const labels = [];
  for (const channel of network.controls) {
    const [a, b] = [at[channel.controller], at[channel.switch]];
    svg.append(svgEl("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], stroke: palette()[3], "stroke-width": 2, "stroke-dasharray": "3 5",
      class: "channel" }));
    const alike = network.controls.filter((other) => other.controller === channel.controller && other.about === channel.about);
    if (told && alike.length <= 2) labels.push(label((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, [`control ${channel.about}`.trim()], { "font-size": 12 }));
  }
  for (const line of network.lines) {
    const [a, b] = line.ends.map((end) => at[end]);
    const bend = .28 * line.bend, middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const top = [middle[0] + bend * (b[1] - a[1]), middle[1] - bend * (b[0] - a[0])];
    svg.append(svgEl("path", { d: `M${a} Q${top} ${b}`, fill: "none", stroke: css("quiet"), "stroke-width": 2, class: "link" }));
    const on = [(middle[0] + top[0]) / 2, (middle[1] + top[1]) / 2];
    if (line.is_emulated) {
      const half = big ? 3 : 9;
      svg.append(svgEl("rect", { x: on[0] - half, y: on[1] - half, width: 2 * half, height: 2 * half, fill: card, stroke: css("text"),
        "stroke-width": 1.4, class: "emulator" }));
      if (!big) svg.append(svgEl("path", { d: `M${on[0] - 5} ${on[1]}q2.5 -6 5 0t5 0`, fill: "none", stroke: css("text") }));
    }
    if (told) labels.push(label(on[0], on[1] + (line.is_emulated ? 24 : 5),
      [line.name, ...line.drawn.map(([name, text]) => `${name} ${text}`)], { "font-size": 12 }));
  }
  for (const spot of network.spots) {
    const [x, y] = at[spot.name];
    const group = svgEl("g", { class: "node" }, nodeShape(spot.mark, x, y, size));
    const title = svgEl("title");
    title.textContent = `${spot.name} (${spot.type})${spot.about ? ": " + spot.about : ""}`;
    group.append(title);
    svg.append(group);
    if (!big) {
      labels.push(label(x, y - size - 9, [spot.name], { "font-weight": 600 }));
      labels.push(label(x, y + size + 15, [spot.type, ...(spot.about ? [spot.about.slice(0, 40)] : [])],
        { "font-size": 12, fill: css("quiet") }));
    }
  }
  svg.append(...labels);
  return svg;
}

function svgText(svg) { return new XMLSerializer().serializeToString(svg); }

async function pngUrl(svg) {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText(svg));
  await image.decode();
  const canvas = el("canvas", { width: 2 * svg.width.baseVal.value, height: 2 * svg.height.baseVal.value });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

function networkFigure(network, number) {
  let svg = null;
  const id = `network-${number + 1}`, title = `${network.name}`;
  const made = figure(id, title, "", [
    ["SVG", () => save(id + ".svg", svgText(svg), "image/svg+xml")],
    ["PNG", async () => save(id + ".png", await pngUrl(svg))],
  ], null);
  made.rows(() => [
    ...network.lines.map((line) => ({ what: "link", name: line.name, between: line.ends.join(" and "),
      emulator: line.is_emulated ? "yes" : "no", facts: line.facts.map(([name, text]) => `${name} ${text}`).join("; ") })),
    ...network.controls.map((channel) => ({ what: "control channel", name: "", between: `${channel.controller} and ${channel.switch}`,
      emulator: "", facts: channel.about })),
    ...network.spots.map((spot) => ({ what: spot.type, name: spot.name, between: "", emulator: "", facts: spot.about })),
  ]);
  const types = [...new Set(network.spots.map((spot) => spot.type))].map((type) => `${type} (${
    network.spots.filter((spot) => spot.type === type).length})`);
  made.caption(`${network.description ? network.description + " " : ""}${network.trials} trial${network.trials === 1 ? "" : "s"}; ${
    types.join(", ")}. A small box on a link is its emulator${network.controls.length ? "; dashed lines are control channels" : ""}. ${
    "Arrows give the direction; a sweep has several values."}`);
  return { node: made.node, update() { svg = networkDrawing(network); made.plot.replaceChildren(svg); } };
}

function networkSection(data) {
  const figures = data.networks.map(networkFigure);
  const node = section("network", "Network", figures.length ? figures.map((each) => each.node)
    : el("p", { class: "quiet" }, "No finished trial has a network that this version can read."));
  let last = null;
  return { node, update() { if (last !== theme()) { last = theme(); figures.forEach((each) => each.update()); } } };
}
