// Elements, tables and files. Whatever comes from the run is set as text, never as HTML.
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function save(name, content, type) {
  const link = el("a", { href: typeof content === "string" && content.startsWith("data:") ? content
    : URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => link.href.startsWith("blob:") && URL.revokeObjectURL(link.href), 10000);
}

function csv(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(cell).join(",") + "\n").join("");
}

const fileName = (words) => words.replace(/[^A-Za-z0-9._=,+-]+/g, "-").slice(0, 120);

// A table that can be sorted by its columns, and filtered by a word where it is long.
// columns: {name, get(row), show?(row), order?(row), number?, wide?, hidden?}; what is hidden is in the CSV only.
function dataTable({ columns: known, rows, label, most = 25, name }) {
  let sorted = null, up = true, shown = most, word = "";
  const columns = known.filter((column) => !column.hidden), order = (column) => column.order ?? column.get;
  const body = el("tbody"), heads = [];
  const more = el("button", { type: "button", onclick: () => { shown = Infinity; draw(); } });
  const find = el("input", { type: "search", placeholder: "filter rows", "aria-label": `Filter rows: ${label}`,
    oninput: (event) => { word = event.target.value.toLowerCase(); draw(); } });
  const compare = (a, b) => (a === null || a === undefined) - (b === null || b === undefined) || (a > b) - (a < b);
  function draw() {
    let list = word ? rows.filter((row) => known.some((c) => String(c.get(row) ?? "").toLowerCase().includes(word))) : [...rows];
    if (sorted) list.sort((a, b) => (up ? 1 : -1) * compare(order(sorted)(a), order(sorted)(b)));
    body.replaceChildren(...list.slice(0, shown).map((row) => el("tr", {}, columns.map((column, i) => {
      const content = column.show ? column.show(row) : column.get(row);
      const kind = column.number ? "num" : column.wide ? "id" : column.param && String(content).length <= 24 ? "param" : null;
      const cell = el(i ? "td" : "th", { class: kind, scope: i ? null : "row" });
      cell.append(content === null || content === undefined || content === "" ? "–" : content);
      return cell;
    }))));
    heads.forEach(([head, column]) => head.setAttribute("aria-sort", column !== sorted ? "none" : up ? "ascending" : "descending"));
    more.hidden = list.length <= shown;
    more.textContent = `Show all ${list.length} rows`;
  }
  const head = el("tr", {}, columns.map((column) => {
    const cell = el("th", { scope: "col", class: column.number ? "num" : null }, el("button", { type: "button",
      onclick: () => { up = sorted === column ? !up : true; sorted = column; draw(); } }, column.name));
    heads.push([cell, column]);
    return cell;
  }));
  draw();
  const tools = el("div", { class: "crowd controls" }, rows.length > most ? find : null, name ? el("button", { type: "button",
    onclick: () => save(name + ".csv", csv(rows.map((row) => Object.fromEntries(known.map((c) => [c.name, c.get(row)])))),
      "text/csv") }, "CSV") : null);
  return el("div", {}, tools, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    el("table", {}, el("thead", {}, head), body)), more);
}

const plainTable = (headers, rows, label, name) => dataTable({ label, name, rows, most: 40,
  columns: headers.map((title, i) => ({ name: title, get: (row) => row[i] })) });

// What is opened with a click, and made only then; it stays open when the page is made anew.
const unfolded = new Set();
function folded(name, words, make) {
  const node = el("details", { class: "fold", ontoggle() {
    if (node.open) { unfolded.add(name); node.fill(); } else unfolded.delete(name);
  } }, el("summary", {}, words));
  node.fill = () => node.children.length === 1 && node.append(...[make()].flat().filter(Boolean));
  if (unfolded.has(name)) { node.fill(); node.open = true; }
  return node;
}

async function unpack(text) {
  if (!globalThis.DecompressionStream) throw new Error("this browser cannot unpack the samples; a newer one can");
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

function section(id, title, ...children) {
  return el("section", { id, "aria-labelledby": id + "-title" }, el("h2", { id: id + "-title", tabindex: "-1" }, title), ...children);
}

function choice(label, options, get, set) {
  const node = el("select", { onchange: () => set(node.value) }, options.map(([value, text]) => el("option", { value }, text)));
  return { node: el("label", {}, label, node), sync: () => { node.value = get(); } };
}

function checkbox(label, get, set) {
  const node = el("input", { type: "checkbox", onchange: () => set(node.checked) });
  return { node: el("label", {}, node, label), sync: () => { node.checked = get(); } };
}
