// What is chosen in the page, kept in the address after '#': a link shows the same view.
const state = (() => {
  let known = new URLSearchParams(location.hash.slice(1));
  const listeners = [];
  const tell = () => listeners.forEach((call) => call());
  addEventListener("hashchange", () => {
    known = new URLSearchParams(location.hash.slice(1));
    tell();
  });
  return {
    get: (key, usual = "") => known.get(key) ?? usual,
    list: (key) => (known.get(key) ?? "").split(".").filter(Boolean).map(Number),
    range(key) {
      const ends = (known.get(key) ?? "").split("~").map(Number);
      return ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1] ? ends : null;
    },
    set(changes) {
      for (const [key, value] of Object.entries(changes)) {
        if (value === null || value === "" || value === undefined) known.delete(key);
        else known.set(key, String(value));
      }
      history.replaceState(null, "", "#" + known.toString());
      tell();
    },
    listen: (call) => listeners.push(call),
  };
})();
