// While the run goes on: asks the testbed on this computer for what has changed, and shows it without losing the view.
(async () => {
  const box = document.getElementById("live");
  let seen = null;
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  for (;;) {
    try {
      const told = await (await fetch("progress", { cache: "no-store" })).json();
      box.textContent = told.ended ? `The run has ended; its report is stored in ${told.file}.` : `Live: ${told.line}`;
      if (told.version !== seen) {
        const data = await (await fetch("data.json", { cache: "no-store" })).json();
        const at = scrollY;
        if (seen !== null || told.version !== 0) await show(data);
        scrollTo({ top: at, behavior: "instant" });
        seen = told.version;
      }
      if (told.ended) return;
    } catch {
      box.textContent = "The run has ended or was stopped: this page shows its last state.";
      return;
    }
    await rest(1500);
  }
})();
