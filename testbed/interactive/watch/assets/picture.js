// The drawing of a running network: made once for a size, and told again and again what moves through it.
const SIDE = 62, ABOVE = 40, BELOW = 34, UNIT_MOST = 210, TOLD = 12, STRETCH = 1.9;

function spread(spots, width, height) {
  const span = (axis) => Math.max(...spots.map((spot) => spot[axis]));
  const room = { x: Math.max(width - 2 * SIDE, 60), y: Math.max(height - ABOVE - BELOW, 40) };
  const fit = (axis) => span(axis) ? Math.min(room[axis] / span(axis), UNIT_MOST) : 0;
  let [x, y] = [fit("x"), fit("y")];
  if (x && y) [x, y] = [Math.min(x, y * STRETCH), Math.min(y, x * STRETCH)];
  const left = (width - x * span("x")) / 2, top = ABOVE + (room.y - y * span("y")) / 2;
  return Object.fromEntries(spots.map((spot) => [spot.name, [left + spot.x * x, top + spot.y * y]]));
}

function arrow([x, y]) {
  return ["→", "↘", "↓", "↙", "←", "↖", "↑", "↗"][(Math.round(Math.atan2(y, x) / (Math.PI / 4)) + 8) % 8];
}

// Where the label of a link, in the middle of which is `on`, covers least of what is there: below or beside it, above, ...
function freePlace([x, y], steep, lines, taken) {
  const wide = 104, high = 13 * lines, below = [x, y + 20, "middle"], right = [x + 11, y + 4 - 6.5 * (lines - 1), "start"];
  const above = [x, y + 2 - high, "middle"], left = [x - 11, right[1], "end"];
  const box = ([at, base, anchor]) => {
    const from = at - { start: 0, middle: wide / 2, end: wide }[anchor];
    return [from, base - 11, from + wide, base - 11 + high];
  };
  const covers = (a) => taken.reduce((sum, b) => sum + Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0]))
    * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1])), 0);
  const places = steep ? [right, left, below, above] : [below, above, right, left];
  const best = places.reduce((found, each) => covers(box(each)) < covers(box(found)) - 1 ? each : found);
  const covered = covers(box(best)) > 1;
  if (!covered) taken.push(box(best));
  return { at: { x: best[0], y: best[1], "text-anchor": best[2] }, covered };
}

// How large nodes can be without touching: less than half of the way between the nearest two.
function sizeOf(at, most) {
  const places = Object.values(at);
  const near = places.flatMap(([x, y], i) => places.slice(0, i).map(([u, v]) => Math.max(Math.abs(x - u), Math.abs(y - v))));
  return Math.max(3, Math.min(most, ...near.map((far) => .36 * far)));
}

// Names that would lie over a node or over another name: they show when somebody points at their node.
function hiddenNames(spots, at, size, letter) {
  const shown = [], hidden = new Set();
  const over = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const nodes = spots.map((spot) => [spot.name, [at[spot.name][0] - size, at[spot.name][1] - size, at[spot.name][0] + size, at[spot.name][1] + size]]);
  for (const spot of spots) {
    const [x, y] = at[spot.name], wide = letter * Math.min(spot.name.length, 18) / 2 + 2;
    const box = [x - wide, y - size - 20, x + wide, y - size - 4];
    const covers = shown.some((other) => over(box, other)) || nodes.some(([name, node]) => name !== spot.name && over(box, node));
    if (covers) hidden.add(spot.name); else shown.push(box);
  }
  return hidden;
}

function drawNetwork(picture, width, height, chosen, pulled) {
  const at = spread(picture.spots, width, height), few = picture.lines.length <= TOLD;
  const size = sizeOf(at, picture.spots.length > 12 ? 11 : 15), small = few ? 12 : 10.5;
  const hidden = hiddenNames(picture.spots, at, size, few ? 8 : 7);
  const svg = svgEl("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": `${picture.spots.length} nodes, ${picture.lines.length} links` });
  const cables = svgEl("g"), labels = svgEl("g"), nodes = svgEl("g"), links = {};
  for (const control of picture.controls) {
    const [a, b] = [at[control.controller], at[control.switch]];
    cables.append(svgEl("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], stroke: palette()[3], "stroke-dasharray": "2 6",
      "stroke-width": 1.3, class: "channel" }));
  }
  const taken = Object.entries(at).flatMap(([name, [x, y]]) => [[x - size - 4, y - size, x + size + 4, y + size + 3],
    [x - 4 * Math.min(name.length, 18), y - size - 20, x + 4 * Math.min(name.length, 18), y - size - 4]]);
  for (const spot of few ? picture.spots.filter((each) => each.address) : []) {
    const [x, y] = at[spot.name], wide = 3.2 * spot.address.length;
    const part = svgEl("text", { x, y: y + size + 14, "text-anchor": "middle", "font-size": 10.5, class: "address quiet" });
    part.textContent = spot.address;
    labels.append(part);
    taken.push([x - wide, y + size + 4, x + wide, y + size + 17]);
  }
  taken.push([-999, -999, 2, 9999], [width - 2, -999, 9999, 9999]);
  for (const line of picture.lines) {
    const [a, b] = line.ends.map((end) => at[end]), [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const long = Math.hypot(dx, dy) || 1, aside = [-dy / long, dx / long], middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const bent = .28 * line.bend * long, top = [middle[0] - aside[0] * bent, middle[1] - aside[1] * bent];
    const curve = (off, from, to) => { // forward and backward each keep to one side
      const moved = ([x, y]) => `${(x + aside[0] * off).toFixed(1)} ${(y + aside[1] * off).toFixed(1)}`;
      return `M${moved(from)} Q${moved(top)} ${moved(to)}`;
    };
    const on = [(middle[0] + top[0]) / 2, (middle[1] + top[1]) / 2];
    const cable = svgEl("path", { d: curve(0, a, b), class: "cable" });
    const ways = { forward: svgEl("path", { d: curve(1.8, a, b), class: "way forward" }),
      backward: svgEl("path", { d: curve(-1.8, b, a), class: "way backward" }) };
    cables.append(cable, ways.forward, ways.backward);
    if (line.is_emulated) {
      cables.append(svgEl("rect", { x: on[0] - 6, y: on[1] - 6, width: 12, height: 12, rx: 2, fill: css("card"), stroke: css("quiet"),
        "pointer-events": "none" }));
    }
    const steep = Math.abs(dy) > 1.2 * Math.abs(dx), isNamed = few && long > (steep ? 60 : 100);
    const { at: place, covered } = freePlace(on, steep, isNamed ? 3 : 2, taken);
    const label = svgEl("text", { ...place, "font-size": small, class: covered && !few ? "told hid" : "told" });
    for (const part of [cable, ways.forward, ways.backward]) {
      part.addEventListener("click", () => pulled(line.name));
      part.addEventListener("pointerenter", () => label.classList.add("pointed"));
      part.addEventListener("pointerleave", () => label.classList.remove("pointed"));
    }
    labels.append(label);
    const hint = svgEl("title");
    hint.textContent = `${line.name}: a click pulls the cable out, or puts it in`;
    cable.append(hint);
    (line.ports ?? []).forEach((number, i) => { // beside the cable, where it leaves the switch
      if (number === null || !few || long < 70) return;
      const [from, way] = i ? [b, -1] : [a, 1], far = size + 11, name = [from[0], from[1] - size - 11];
      const places = [9, -9].map((off) => [from[0] + way * dx / long * far + aside[0] * off, from[1] + way * dy / long * far + aside[1] * off + 4]);
      const [x, y] = places.reduce((best, each) => Math.hypot(each[0] - name[0], each[1] - name[1])
        > Math.hypot(best[0] - name[0], best[1] - name[1]) + 1 ? each : best);
      const part = svgEl("text", { x, y, "text-anchor": "middle", "font-size": 10.5, class: "port quiet" });
      part.textContent = number;
      labels.append(part);
    });
    links[line.name] = { cable, ways, label, isNamed, arrows: { forward: arrow([dx, dy]), backward: arrow([-dx, -dy]) } };
  }
  for (const spot of picture.spots) {
    const [x, y] = at[spot.name];
    const title = svgEl("title");
    title.textContent = `${spot.name} (${spot.type}): open a terminal`;
    const name = svgEl("text", { x, y: y - size - 7, "text-anchor": "middle", "font-weight": 600, "font-size": few ? 13 : 11.5,
      class: hidden.has(spot.name) ? "name hid" : "name" });
    name.textContent = spot.name.length > 18 ? spot.name.slice(0, 17) + "…" : spot.name;
    const node = svgEl("g", { class: "node", tabindex: 0, role: "button", "aria-label": `terminal in ${spot.name}` },
      nodeShape(spot.mark, x, y, size), title, name);
    node.addEventListener("click", () => chosen(spot));
    node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); chosen(spot); } });
    nodes.append(node);
  }
  svg.append(cables, labels, nodes);
  return { svg, update: (moves) => moves.forEach((move) => links[move.name] && showMove(links[move.name], move)) };
}

// A faster dash for each ten times as many bits in a second; in steps, so that the dashes do not jump.
const PACES = [[1e9, ".25s"], [1e8, ".4s"], [1e7, ".6s"], [1e6, ".9s"], [1e5, "1.3s"], [0, "2s"]];

function showMove(link, move) {
  link.cable.classList.toggle("down", move.isDown);
  const lines = link.isNamed ? [[move.name, "quiet"]] : [];
  for (const way of ["forward", "backward"]) {
    const { bps, queue, lost } = move[way], path = link.ways[way];
    path.classList.toggle("moving", bps > 0);
    if (bps > 0) {
      path.style.setProperty("--pace", PACES.find(([least]) => bps >= least)[1]);
      path.style.strokeWidth = Math.min(2 + Math.max(0, Math.log10(bps) - 3) * .55, 5.5).toFixed(1);
    }
    const waits = queue?.packets ? ` · ${queue.packets.toLocaleString("en")} wait` : "";
    if (bps > 0 || waits) lines.push([`${link.arrows[way]} ${rateText(bps === null ? null : Number(bps.toPrecision(3)))}${waits}`, way]);
  }
  if (move.isDown) lines.push(["down", "bad"]);
  if (move.lost > 0) lines.push([`${move.lost.toLocaleString("en")} dropped`, "bad"]);
  const x = link.label.getAttribute("x");
  link.label.replaceChildren(...lines.map(([text, look], i) => {
    const part = svgEl("tspan", { x, dy: i ? 13 : 0, class: look });
    part.textContent = text;
    return part;
  }));
}
