// What if: leaves moved by hand, values and gradients following, as far as the program's path goes.
const SLIDERS = 12;

const HOLDS = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
  "==": (a, b) => a === b, "!=": (a, b) => a !== b,
};

// The first comparison that would come out otherwise with these numbers; null where all stand.
const turnOf = (story, numbers) => {
  const { checks, extra } = story.paths;
  if (!checks.length) return null;
  const more = [];
  for (const [name, operands] of extra) {
    const given = operands.map((each) => (Array.isArray(each) ? Number(each[0]) : at(each)));
    more.push(law[name] ? law[name].value(...given) : wide[name].value(given));
  }
  function at(ref) { return ref < story.count ? numbers.data[ref] : more[ref - story.count]; }
  const number = (side) => (Array.isArray(side) ? Number(side[0]) : at(side));
  for (const check of checks) {
    const [left, symbol, right, outcome] = check;
    if (HOLDS[symbol](number(left), number(right)) !== Boolean(outcome)) return check;
  }
  return null;
};

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
  const unknown = () => Boolean(story.paths.unknown) && !app.anyway;
  app.canMove = (value) => !reason && !unknown() && !fixed[value] && story.ops[story.op[value]][0] === "leaf";
  app.prefix = commonPrefix(leaves.map((value) => story.names[value]), LONGEST_LEAF);
  const add = () => { for (const value of leaves) if (app.canMove(value)) addSlider(app, value); };
  byId("whatif").hidden = !leaves.length && !reason;
  const partly = "Leaves that reach an op written in Python stay where they are: this page cannot run it.";
  if (reason) setText(byId("whatif-why"), `Nothing can be moved here. ${reason}`);
  else if (turnOf(story, app.numbers)) {
    story.paths.unknown = story.paths.astray;
    setText(byId("whatif-why"), story.paths.astray);
  } else if (unknown()) setText(byId("whatif-why"), story.paths.unknown);
  else if (fixed.some(Boolean)) setText(byId("whatif-why"), partly);
  byId("anyway").hidden = Boolean(reason) || !unknown();
  byId("anyway").addEventListener("click", () => {
    app.anyway = true;
    byId("anyway").hidden = true;
    setText(byId("whatif-why"), story.paths.anyway);
    add();
    showWhatIf(app);
  });
  add();
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
    oninput: () => app.move(value, Number(range.value)),
    onchange: () => settle(app) });
  range.value = String(centre);
  const box = html("input", { type: "number", step: "any", value: String(start),
    "aria-label": `Value of ${name}`,
    oninput: () => {
      const written = Number(box.value);
      if (box.value !== "" && Number.isFinite(written)) app.move(value, written);
    },
    onblur: () => settle(app),
    onkeydown: (event) => { if (event.key === "Enter") box.blur(); } });
  const row = html("li", {}, valueButton(app, value, LONGEST_LEAF, app.prefix), range, box);
  if (app.prefix && !name.startsWith(story.names[story.bars[0][0]].slice(0, app.prefix))) {
    row.firstChild.textContent = shortened(name, LONGEST_LEAF);
  }
  app.sliders.set(value, { range, box, row, start });
  byId("sliders").append(row);
};

// A hand lets go: what was refused goes back to where the page stands; its reason stays.
const settle = (app) => {
  for (const [value, { range, box, start }] of app.sliders) {
    const now = app.moved.has(value) ? app.moved.get(value) : start;
    range.value = String(now);
    box.value = String(Number(now.toPrecision(10)));
  }
};

const showWhatIf = (app) => {
  const { story, numbers, moved, refused } = app;
  for (const [value, { range, box, row, start }] of app.sliders) {
    const now = moved.has(value) ? moved.get(value) : start;
    if (document.activeElement !== range) range.value = String(now);
    if (document.activeElement !== box) box.value = String(Number(now.toPrecision(10)));
    row.classList.toggle("moved", moved.has(value));
    row.classList.toggle("refused", Boolean(refused) && refused.value === value);
  }
  byId("reset").hidden = byId("moved").hidden = !moved.size;
  byId("whatif-why").hidden = Boolean(moved.size) && !app.anyway;
  byId("refused").hidden = !refused;
  setText(byId("refused"), refused ? refusal(story, refused) : "");
  if (!moved.size) { setText(byId("moved"), ""); return; }
  // What the recorded gradients predicted, beside what came: they agree for small moves only.
  const was = story.data[story.root];
  let predicted = was;
  for (const [value, number] of moved) {
    predicted += (app.before.grad[value] * (number - story.data[value])) / story.seed;
  }
  const said = `${story.names[story.root]} was ${brief(was)} and is now ${brief(numbers.data[story.root])}`;
  const beside = story.seed ? `; the gradients at the start predicted ${brief(predicted)}.` : ".";
  setText(byId("moved"), said + beside);
};

const refusal = (story, { value, number, turn }) => told(story.paths.turned, {
  name: story.names[value], number: brief(number), where: turn[4], condition: turn[5],
  was: turn[3] ? "true" : "false", now: turn[3] ? "false" : "true",
});
