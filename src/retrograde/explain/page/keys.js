// Keys, wherever the focus is. A field that is written in keeps the keys that write, a slider its
// arrows; page up and page down, which a lecturer's remote sends, step from everywhere.
const listenToKeys = (app) => {
  document.addEventListener("keydown", (event) => onKey(app, event));
  // A button that was clicked gives the focus back, so that the space bar plays again.
  document.addEventListener("click", (event) => {
    const pressed = event.target.closest && event.target.closest("button, summary, input[type=checkbox], input[type=range]");
    if (pressed && event.detail > 0) pressed.blur();
  });
  byId("scrubber").addEventListener("pointerup", () => byId("scrubber").blur());
  byId("speed").addEventListener("change", () => byId("speed").blur());
};

const onKey = (app, event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const { target, key } = event;
  const on = () => app.next();
  const back = () => app.at(app.position - 1);
  const acts = {
    PageDown: on, PageUp: back, ArrowRight: on, ArrowLeft: back,
    Home: () => app.at(0), End: () => app.at(lastPosition(app.story)),
    g: () => app.look("graph"), t: () => app.look("table"), p: () => present(app), q: () => predict(app),
    f: fullscreen, d: switchTheme, "+": () => zoom(app, 1.3), "=": () => zoom(app, 1.3),
    "-": () => zoom(app, 1 / 1.3), 0: () => fit(app, false), l: () => copyLink(app),
    Escape: () => (presenting() ? present(app, false) : app.up()), Backspace: () => app.up(),
    " ": () => app.play(),
  };
  const act = acts[key];
  if (!act || !reaches(target, key)) return;
  event.preventDefault();
  if (key.startsWith("Arrow") || key.startsWith("Page") || key === "Home" || key === "End") app.play(false);
  if (key === "Escape" && target !== document.body) target.blur();
  act();
};

// Whether a key is for the page, not for what has the focus.
const reaches = (target, key) => {
  if (key.startsWith("Page") || key === "Escape") return true;
  if (target.matches("input[type=text], input[type=number], textarea")) {
    return target.value === "" && target.type === "text" && key.startsWith("Arrow");
  }
  if (target === byId("scrubber")) return true;
  const moves = key.startsWith("Arrow") || key === "Home" || key === "End";
  if (target.matches("input[type=range], select")) return !moves && key !== " ";
  if (key === " ") return !target.matches("button, summary, input, [role=button]");
  return true;
};
