// Themes, colours that colour-blind people can tell apart (Okabe and Ito), and numbers with units.
const PALETTE = {
  light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07A00", "#56B4E9", "#000000"],
  dark: ["#56B4E9", "#FF8A3D", "#2FCF9F", "#E59BC4", "#E6B422", "#7FA8FF", "#F2F2F2"],
};
const DASHES = [[1, 0], [7, 3], [2, 3], [9, 3, 2, 3]];
const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"];
const LIMITS = { rate: 2, "receiver buffer": 0, "sender buffer": 5, loss: 1, policer: 1, "path buffer": 4, application: 3, cpu: 4,
  "slow start": 3, "congestion control": 6, unknown: 6 };

const theme = () => {
  const asked = state.get("theme");
  return asked === "dark" || asked === "light" ? asked : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
};
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const palette = () => PALETTE[theme()];

function vegaConfig() {
  const text = css("text"), quiet = css("quiet"), line = css("line");
  const font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  return {
    background: css("card"), font, view: { stroke: line },
    axis: { labelColor: text, titleColor: text, gridColor: line, gridOpacity: .6, domainColor: quiet, tickColor: quiet,
      labelFontSize: 12, titleFontSize: 12.5, titleFontWeight: 500, labelLimit: 150 },
    legend: { labelColor: text, titleColor: quiet, labelFontSize: 12, labelLimit: 420, symbolLimit: 0, titleFontWeight: 500,
      symbolBaseFillColor: text, symbolBaseStrokeColor: text },
    title: { color: text, fontSize: 13 }, text: { color: text }, header: { labelColor: text, titleColor: text },
  };
}

const RATES = [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]];
const rateUnit = (most) => RATES.find(([scale]) => most >= scale) ?? RATES[3];
const short = (value, digits = 4) => value === null || value === undefined ? "–"
  : Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 12, useGrouping: Math.abs(value) >= 1e5 });
const rateText = (bps) => {
  if (bps === null || bps === undefined) return "–";
  const [scale, unit] = rateUnit(bps);
  return `${short(bps / scale)} ${unit}`;
};
const msText = (s) => s === null || s === undefined ? "–" : `${short(s * 1e3, 6)} ms`;
