// One state, and what changes it: the player, keys, clicks, moved leaves.
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

const start = async () => {
  const story = await readStory();
  const numbers = recorded(story);
  const app = {
    story, numbers, before: numbers, moved: new Map(), position: 0, selected: strongestLeaf(story, numbers),
    view: "graph", picture: story.pictures[0], drawn: null, timer: 0,
  };
  Object.assign(app, actions(app));
  const last = lastPosition(story);
  const scrubber = byId("scrubber");
  scrubber.max = String(last);
  scrubber.style.setProperty("--split", `${(100 * story.forward.length) / Math.max(1, last)}%`);
  byId("scale-forward").style.flexGrow = String(story.forward.length);
  byId("scale-backward").style.flexGrow = String(story.backward.length);
  setText(byId("rises"), `raises ${shortened(story.names[story.root], 12)}`);
  setText(byId("falls"), `lowers ${shortened(story.names[story.root], 12)}`);
  buildSource(app);
  buildThermometer(app);
  buildWhatIf(app);
  buildTable(app);
  listen(app);
  app.open(story.pictures[0]);
  const goToLink = () => {
    const asked = /^#step-(\d+)$/.exec(location.hash);
    if (asked) app.at(Number(asked[1]));
  };
  window.addEventListener("hashchange", goToLink);
  goToLink();
  window.retrograde = app; // for the curious: retrograde.numbers.grad, retrograde.at(3), …
  document.body.dataset.ready = String(Math.round(performance.now()));
};

// The ledger first shown: that of the leaf the root depends on most.
const strongestLeaf = (story, numbers) => {
  const leaves = story.bars.map(([value]) => value);
  const size = (value) => Math.abs(numbers.grad[value]);
  return leaves.length ? leaves.reduce((best, it) => (size(it) > size(best) ? it : best)) : story.root;
};

const actions = (app) => ({
  // Everything on the page follows from the state.
  show(follow = false, jump = false) {
    const active = updatePicture(app, app.drawn);
    if (app.view === "table") showTable(app, follow);
    showStep(app);
    showLedger(app);
    showSource(app);
    showThermometer(app);
    const scrubber = byId("scrubber");
    scrubber.value = String(app.position);
    const step = stepAt(app.story, app.position);
    scrubber.setAttribute("aria-valuetext", step.phase === "whole" ? "the whole pass"
      : `${step.phase} step ${step.index + 1}, ${app.story.names[step.value]}`);
    setText(byId("count"), `${thousands(app.position)} / ${thousands(lastPosition(app.story))}`);
    document.body.dataset.phase = step.phase;
    if (active && follow) reveal(active, jump);
  },

  at(position, { follow = true } = {}) {
    app.position = Math.min(Math.max(position, 0), lastPosition(app.story));
    const { story } = app;
    const wants = byId("follow").checked && follow && app.position > 0;
    if (wants && story.pictures.length > 1) {
      const home = story.pictures[story.home[stepAt(story, app.position).value]];
      if (home !== app.picture) { app.open(home, true); return; }
    }
    app.show(follow);
  },

  open(picture, follow = false) {
    app.picture = picture;
    app.drawn = drawPicture(app, picture);
    byId("graph").replaceChildren(app.drawn.drawing);
    fit(app);
    showCrumbs(app);
    byId("graph").scrollTo({ top: 0, left: 0, behavior: "instant" });
    app.show(follow, true);
  },

  goTo(ref) {
    if (ref >= app.story.count) app.open(app.story.pictures[ref - app.story.count]);
    else { app.select(ref, true); }
    const first = app.drawn.drawing.querySelector("[tabindex]");
    if (first) first.focus({ preventScroll: true });
  },

  up() {
    if (app.picture.parent >= 0) app.open(app.story.pictures[app.picture.parent]);
  },

  select(value, reveals = false) {
    app.selected = value;
    if (app.canMove(value)) addSlider(app, value);
    const home = app.story.pictures[app.story.home[value]];
    if (reveals && home !== app.picture) app.open(home);
    app.show();
    showWhatIf(app);
  },

  look(view) {
    app.view = view;
    byId("graph").hidden = view !== "graph";
    byId("table").hidden = view !== "table";
    byId("as-graph").setAttribute("aria-pressed", String(view === "graph"));
    byId("as-table").setAttribute("aria-pressed", String(view === "table"));
    app.show(true);
  },

  play(on = !app.timer) {
    clearInterval(app.timer);
    app.timer = 0;
    const last = lastPosition(app.story);
    if (on) {
      if (app.position >= last) app.at(0);
      const stride = Math.max(1, Math.round(last / 240)); // a long pass is over in four minutes at most
      app.timer = setInterval(() => {
        app.at(app.position + stride);
        if (app.position >= last) app.play(false);
      }, 1000 / Number(byId("speed").value));
    }
    byId("play").classList.toggle("playing", Boolean(app.timer));
    byId("play").setAttribute("aria-label", app.timer ? "Pause" : "Play");
  },

  move(value, number) {
    if (!app.canMove(value)) return;
    if (number === app.story.data[value]) app.moved.delete(value);
    else app.moved.set(value, number);
    app.numbers = app.moved.size ? evaluate(app.story, app.moved) : app.before;
    app.show();
    showWhatIf(app);
  },

  reset() {
    app.moved.clear();
    app.numbers = app.before;
    app.show();
    showWhatIf(app);
  },
});

// A drawing fills the width it has, within what can still be read; beyond that it scrolls.
const fit = (app) => {
  const { drawing, picture } = app.drawn;
  const room = byId("graph").clientWidth - 2;
  const scale = Math.min(1.15, Math.max(0.85, room / picture.layout.width));
  drawing.setAttribute("width", String(picture.layout.width * scale));
  drawing.setAttribute("height", String(picture.layout.height * scale));
  const alone = app.story.pictures.length === 1; // then the card need not be taller than its drawing
  const height = Math.min(Math.max(picture.layout.height * scale + 28, 240), window.innerHeight * 0.6);
  byId("graph").style.height = alone ? `${height}px` : "";
};

const reveal = (box, jump) => {
  const shell = byId("graph");
  const [outer, inner] = [shell.getBoundingClientRect(), box.group.getBoundingClientRect()];
  const behavior = jump || calm.matches ? "instant" : "smooth";
  if (inner.left < outer.left || inner.right > outer.right) {
    shell.scrollBy({ left: inner.left - outer.left - (outer.width - inner.width) / 2, behavior });
  }
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    shell.scrollBy({ top: inner.top - outer.top - (outer.height - inner.height) / 2, behavior });
  }
};

const showCrumbs = (app) => {
  const { story } = app;
  const trail = [];
  for (let picture = app.picture; picture; picture = story.pictures[picture.parent]) trail.unshift(picture);
  byId("crumbs").hidden = story.pictures.length === 1;
  byId("crumbs").replaceChildren(...trail.map((picture) => html("li", {}, html("button", {
    type: "button",
    "aria-current": picture === app.picture ? "location" : null,
    onclick: () => app.open(picture),
  }, shortened(picture.title, 28)))));
  byId("following").hidden = story.pictures.length === 1;
};

const listen = (app) => {
  const scrubber = byId("scrubber");
  scrubber.addEventListener("input", () => {
    app.play(false);
    app.at(Number(scrubber.value), { follow: false });
  });
  scrubber.addEventListener("change", () => app.at(Number(scrubber.value)));
  const press = (id, act) => byId(id).addEventListener("click", act);
  press("first", () => app.at(0));
  press("previous", () => app.at(app.position - 1));
  press("play", () => app.play());
  press("next", () => app.at(app.position + 1));
  press("last", () => app.at(lastPosition(app.story)));
  press("as-graph", () => app.look("graph"));
  press("as-table", () => app.look("table"));
  press("elsewhere", () => {
    const { value } = stepAt(app.story, app.position);
    app.open(app.story.pictures[app.story.home[value]], true);
  });
  byId("speed").addEventListener("input", () => { if (app.timer) app.play(true); });
  window.addEventListener("resize", () => fit(app));
  document.addEventListener("keydown", (event) => onKey(app, event));
};

const onKey = (app, event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  const writes = target.matches("input:not([type=checkbox]), select, textarea");
  if (writes && target !== byId("scrubber")) return;
  const acts = {
    ArrowRight: () => app.at(app.position + 1), ArrowLeft: () => app.at(app.position - 1),
    Home: () => app.at(0), End: () => app.at(lastPosition(app.story)),
    g: () => app.look("graph"), t: () => app.look("table"),
    Escape: () => app.up(), Backspace: () => app.up(),
  };
  if (event.key === " " && !target.matches("button, summary, input")) acts[" "] = () => app.play();
  if (event.key === " " && target === byId("scrubber")) acts[" "] = () => app.play();
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") app.play(false);
  act();
};

start().catch((error) => {
  setText(byId("words"), `This page could not start: ${error.message}. It needs a browser of 2023 or later.`);
  throw error;
});
