// The shapes of nodes, as SVG with attributes only.
const COLOURS = ["blue", "vermilion", "green", "purple", "orange", "sky", "neutral"];

function svgEl(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function nodeShape(mark, x, y, size) {
  const shape = mark?.shape ?? "pentagon";
  const fill = mark ? palette()[COLOURS.indexOf(mark.colour)] : css("soft");
  const look = { fill, stroke: css("text"), "stroke-width": 1.4 };
  if (shape === "square") return svgEl("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, rx: 3, ...look });
  if (shape === "circle") return svgEl("circle", { cx: x, cy: y, r: size * 1.1, ...look });
  const corners = { diamond: 4, pentagon: 5, hexagon: 6 }[shape];
  const points = Array.from({ length: corners }, (_, i) => {
    const turn = (i / corners) * 2 * Math.PI - Math.PI / 2;
    return `${(x + 1.3 * size * Math.cos(turn)).toFixed(1)},${(y + 1.3 * size * Math.sin(turn)).toFixed(1)}`;
  });
  return svgEl("polygon", { points: points.join(" "), ...look });
}
