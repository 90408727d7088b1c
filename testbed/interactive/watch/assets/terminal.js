// Terminals in nodes: keys go out one request after the other, output of all of them comes with one request that waits.
const terminals = new Map(); // by number
const TAKE_MS = 60;
let front = null;

async function send(path, body) {
  const answer = await fetch(path, { method: "POST", body: body instanceof Uint8Array ? body : JSON.stringify(body), cache: "no-store" });
  const told = await answer.json();
  if (told.error) throw new Error(told.error);
  return told;
}

async function openTerminal(network, node) {
  const dock = document.getElementById("dock"), screens = document.getElementById("screens");
  dock.hidden = false;
  const box = el("div");
  screens.append(box);
  for (const each of terminals.values()) each.box.hidden = true;
  const term = new Terminal({ fontSize: 13, scrollback: 5000, fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace",
    theme: { background: "#14171b" }, linkHandler: { activate() {} } }); // what a program says is no link to go to
  const fit = new FitAddon.FitAddon();
  term.loadAddon(fit);
  term.open(box);
  fit.fit();
  try {
    const { terminal: number } = await send("open", { network, node, rows: term.rows, columns: term.cols });
    const tab = el("span", {}, el("button", { type: "button", role: "tab", onclick: () => bringToFront(number) },
      node + (document.getElementById("choose").hidden ? "" : ` (${network})`)),
      el("button", { type: "button", "aria-label": `close the terminal in ${node}`, onclick: () => closeTerminal(number) }, "×"));
    document.getElementById("tabs").append(tab);
    const opened = { number, network, node, term, fit, box, tab, heard: 0, keys: [], sends: false, ended: false };
    terminals.set(number, opened);
    term.onData((text) => { opened.keys.push(...new TextEncoder().encode(text)); sendKeys(opened); });
    term.onBinary((text) => { opened.keys.push(...Array.from(text, (each) => each.charCodeAt(0))); sendKeys(opened); });
    term.onResize(({ rows, cols }) => send("size", { terminal: number, rows, columns: cols }).catch(() => {}));
    bringToFront(number);
    listen();
  } catch (error) {
    term.dispose();
    box.remove();
    dock.hidden = !terminals.size;
    bringToFront(front);
    throw error;
  }
}

function bringToFront(number) {
  const found = terminals.get(number) ?? [...terminals.values()].at(-1);
  front = found?.number ?? null;
  for (const each of terminals.values()) {
    each.box.hidden = each !== found;
    each.tab.firstChild.setAttribute("aria-selected", each === found);
  }
  document.getElementById("dock").hidden = !found;
  document.dispatchEvent(new Event("docked"));
  if (found) { found.fit.fit(); found.term.focus(); }
}

function closeTerminal(number) {
  const found = terminals.get(number);
  terminals.delete(number);
  if (!found.ended) fetch(`close?terminal=${number}`, { method: "POST" }).catch(() => {});
  found.term.dispose();
  found.box.remove();
  found.tab.remove();
  bringToFront(front === number ? null : front);
}

async function sendKeys(opened) {
  if (opened.sends || opened.ended) return;
  opened.sends = true;
  while (opened.keys.length && !opened.ended) {
    const part = opened.keys.slice(0, 32768);
    try {
      const { taken } = await send(`input?terminal=${opened.number}`, new Uint8Array(part));
      if (taken) opened.keys.splice(0, part.length);
      else await rest(TAKE_MS);
    } catch { await rest(500); if (!terminals.has(opened.number)) break; }
  }
  opened.sends = false;
}

const rest = (ms) => new Promise((done) => setTimeout(done, ms));
let listening = false;

async function listen() {
  if (listening) return;
  listening = true;
  for (let failed = 0; ;) {
    const open = [...terminals.values()].filter((each) => !each.ended);
    if (!open.length) break;
    try {
      const told = await send("output", Object.fromEntries(open.map((each) => [each.number, each.heard])));
      failed = 0;
      for (const [number, said] of Object.entries(told)) {
        const each = terminals.get(Number(number));
        if (!each) continue;
        const bytes = Uint8Array.from(atob(said.data), (letter) => letter.charCodeAt(0));
        const fresh = bytes.subarray(Math.max(0, each.heard - said.at));
        if (fresh.length) await new Promise((done) => each.term.write(fresh, done));
        each.heard = Math.max(each.heard, said.at + bytes.length);
        if (said.ended !== null) endOf(each, said.ended);
      }
    } catch {
      if (++failed > 5) open.forEach((each) => endOf(each, "testbed watch has ended"));
      await rest(400);
    }
  }
  listening = false;
}

function endOf(each, why) {
  each.ended = true;
  each.term.options.disableStdin = true;
  each.term.write("\r\n[");
  each.term.write(Array.from(why, (letter) => letter >= " " && letter !== "\x7f" ? letter : "?").join("") + "]\r\n");
}

new ResizeObserver(() => terminals.get(front)?.fit.fit()).observe(document.getElementById("screens"));

addEventListener("pagehide", () => { for (const each of terminals.values()) if (!each.ended) navigator.sendBeacon(`close?terminal=${each.number}`); });
