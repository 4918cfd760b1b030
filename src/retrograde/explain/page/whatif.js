// What if: leaves moved by hand, values and gradients following.
const SLIDERS = 12;

const buildWhatIf = (app) => {
  const { story } = app;
  const reason = whyFixed(story, app.numbers);
  const fixed = fixedValues(story);
  let leaves = [];
  for (let value = 0; value < story.count && leaves.length <= SLIDERS; value += 1) {
    if (story.ops[story.op[value]][0] === "leaf") leaves.push(value);
  }
  // Where there are many leaves, the strongest; others get a slider when they are chosen.
  if (leaves.length > SLIDERS) leaves = story.bars.map(([value]) => value);
  app.sliders = new Map();
  app.canMove = (value) => !reason && !fixed[value] && story.ops[story.op[value]][0] === "leaf";
  byId("whatif").hidden = !leaves.length && !reason;
  if (reason) setText(byId("whatif-why"), `Nothing can be moved here. ${reason}`);
  else if (fixed.some(Boolean)) {
    setText(byId("whatif-why"),
      "Leaves that reach an op written in Python stay where they are: this page cannot run it.");
  }
  if (!reason) for (const value of leaves) if (app.canMove(value)) addSlider(app, value);
  byId("reset").addEventListener("click", () => app.reset());
};

const addSlider = (app, value) => {
  if (app.sliders.has(value)) return;
  const { story } = app;
  const start = story.data[value];
  const reach = Number.isFinite(start) ? Math.max(2 * Math.abs(start), 2) : 2;
  const centre = Number.isFinite(start) ? start : 0;
  const name = story.names[value];
  const range = html("input", { type: "range", min: centre - reach, max: centre + reach, step: "any",
    value: centre, "aria-label": `Move ${name}`,
    oninput: () => app.move(value, Number(range.value)) });
  range.value = String(centre);
  const box = html("input", { type: "number", step: "any", value: String(start),
    "aria-label": `Value of ${name}`,
    oninput: () => {
      const written = Number(box.value);
      if (box.value !== "" && Number.isFinite(written)) app.move(value, written);
    } });
  const row = html("li", {}, valueButton(app, value), range, box);
  app.sliders.set(value, { range, box, row, start });
  byId("sliders").append(row);
};

const showWhatIf = (app) => {
  const { story, numbers, moved } = app;
  for (const [value, { range, box, row, start }] of app.sliders) {
    const now = moved.has(value) ? moved.get(value) : start;
    if (document.activeElement !== range) range.value = String(now);
    if (document.activeElement !== box) box.value = String(Number(now.toPrecision(10)));
    row.classList.toggle("moved", moved.has(value));
  }
  byId("reset").hidden = byId("moved").hidden = !moved.size;
  byId("whatif-why").hidden = Boolean(moved.size);
  if (!moved.size) { setText(byId("moved"), ""); return; }
  // What the recorded gradients foretold, beside what came: they agree for small moves only.
  const was = story.data[story.root];
  let foretold = was;
  for (const [value, number] of moved) {
    foretold += (app.before.grad[value] * (number - story.data[value])) / story.seed;
  }
  const told = `${story.names[story.root]} was ${brief(was)} and is now ${brief(numbers.data[story.root])}`;
  const beside = story.seed ? `; the gradients at the start foretold ${brief(foretold)}.` : ".";
  setText(byId("moved"), told + beside);
};
