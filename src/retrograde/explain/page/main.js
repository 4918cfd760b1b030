// One state, and what changes it: the player, clicks, moved leaves.
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

const start = async () => {
  const story = await readStory();
  const numbers = recorded(story);
  const app = {
    story, numbers, before: numbers, moved: new Map(), position: 0, seen: 0, selected: strongestLeaf(story, numbers),
    view: "graph", picture: story.pictures[0], drawn: null, timer: 0, camera: null, byHand: false, gliding: 0,
    predicting: false, hidden: false, isRight, answered: new Map(), tally: { right: 0, asked: 0 }, refused: null, anyway: false,
  };
  Object.assign(app, actions(app));
  const last = lastPosition(story);
  const scrubber = byId("scrubber");
  scrubber.max = String(last);
  scrubber.style.setProperty("--split", `${(100 * (story.forward.length + 0.5)) / Math.max(1, last)}%`);
  byId("scale-forward").style.flexGrow = String(story.forward.length);
  byId("scale-backward").style.flexGrow = String(story.backward.length + 1);
  setText(byId("rises"), `raises ${shortened(story.names[story.root], 12)}`);
  setText(byId("falls"), `lowers ${shortened(story.names[story.root], 12)}`);
  buildSource(app);
  buildThermometer(app);
  buildWhatIf(app);
  buildTable(app);
  buildSteps(app);
  listenToModes(app);
  listenToExports(app);
  listen(app);
  app.open(story.pictures[0]);
  const goToLink = () => {
    const asked = /^#step-(\d+)$/.exec(location.hash);
    if (asked && Number(asked[1]) !== app.position) app.at(Number(asked[1]));
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
    hide(app);
    const active = updatePicture(app, app.drawn);
    if (app.view === "table") showTable(app, follow);
    showResult(app);
    showStep(app);
    showQuestion(app);
    showSteps(app, follow);
    showLedger(app);
    showSource(app);
    showThermometer(app);
    const scrubber = byId("scrubber");
    scrubber.value = String(app.position);
    const step = stepAt(app.story, app.position);
    const spoken = { whole: "the whole pass", seed: `the seed, ${app.story.names[step.value]}` };
    scrubber.setAttribute("aria-valuetext",
      spoken[step.phase] || `${step.phase} step ${step.index + 1}, ${app.story.names[step.value]}`);
    setText(byId("count"), `${thousands(app.position)} / ${thousands(lastPosition(app.story))}`);
    document.body.dataset.phase = step.phase;
    if (active && follow && app.camera) reveal(app, active, jump);
    if (app.position === 0 && follow && !app.byHand) glide(app, fitted(app), jump);
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

  // The next step; one that is still to be predicted is revealed first.
  next() {
    if (app.hidden) answer(app);
    else app.at(app.position + 1);
  },

  open(picture, follow = false) {
    app.picture = picture;
    app.drawn = drawPicture(app, picture);
    byId("graph").replaceChildren(app.drawn.drawing);
    app.camera = null;
    fit(app);
    showCrumbs(app);
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
    byId("hands").hidden = view !== "graph";
    if (view === "graph") fit(app);
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
        if (app.predicting && app.hidden) { app.play(false); return; }
        app.at(app.position + stride);
        if (app.position >= last) app.play(false);
      }, 1000 / Number(byId("speed").value));
    }
    byId("play").classList.toggle("playing", Boolean(app.timer));
    byId("play").setAttribute("aria-label", app.timer ? "Pause" : "Play");
  },

  // Move a leaf, unless the program would then have taken another path: then nothing moves.
  move(value, number) {
    if (!app.canMove(value)) return;
    const moved = new Map(app.moved);
    if (Object.is(number, app.story.data[value])) moved.delete(value);
    else moved.set(value, number);
    const numbers = moved.size ? evaluate(app.story, moved) : app.before;
    const turn = moved.size ? turnOf(app.story, numbers) : null;
    app.refused = turn && { value, number, turn };
    if (!turn) Object.assign(app, { moved, numbers });
    app.show();
    showWhatIf(app);
  },

  reset() {
    app.moved = new Map();
    app.numbers = app.before;
    app.refused = null;
    app.show();
    showWhatIf(app);
  },
});

// The result in the heading, hidden while it is to be predicted.
const showResult = (app) => {
  const { story, numbers, seen, moved } = app;
  const known = dataIsKnown(story, seen, story.root) || !app.predicting;
  const now = brief(numbers.data[story.root]);
  setText(byId("result"), !known ? "?" : moved.size ? `${now}, moved from ${brief(story.data[story.root])},` : now);
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
  press("next", () => app.next());
  press("last", () => app.at(lastPosition(app.story)));
  press("as-graph", () => app.look("graph"));
  press("as-table", () => app.look("table"));
  press("elsewhere", () => {
    const { value } = stepAt(app.story, app.position);
    app.open(app.story.pictures[app.story.home[value]], true);
  });
  byId("speed").addEventListener("input", () => { if (app.timer) app.play(true); });
  press("predict", () => predict(app));
  press("reveal", () => answer(app));
  press("said-right", () => said(app, true));
  press("said-wrong", () => said(app, false));
  listenToKeys(app);
};

start().catch((error) => {
  setText(byId("words"), `This page could not start: ${error.message}. It needs a browser of 2023 or later.`);
  throw error;
});
