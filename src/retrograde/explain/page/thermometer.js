// The thermometer: the gradients of the leaves as bars, and the strongest and weakest in words.
const LONGEST_LEAF = 16;
const CHECKED = 3000; // values up to which a moved leaf is tried a little to either side

const buildThermometer = (app) => {
  const { story } = app;
  const prefix = commonPrefix(story.bars.map(([value]) => story.names[value]), LONGEST_LEAF);
  app.bars = story.bars.map(([value, words]) => {
    const bar = html("span", { class: "bar" });
    const reading = html("span", { class: "grad" });
    const tube = html("span", { class: "tube", "aria-hidden": "true" }, bar);
    const row = html("li", { title: words }, valueButton(app, value, LONGEST_LEAF, prefix), tube, reading);
    byId("bars").append(row);
    return { value, bar, reading, row, words };
  });
  setText(byId("bars-note"), story.bars_note);
  byId("thermometer").hidden = !story.bars.length;
};

const showThermometer = (app) => {
  const { story, numbers, seen, moved } = app;
  const found = app.bars.map(({ value }) => gathered(story, numbers, seen, value));
  const most = app.bars.reduce((high, { value }) => {
    const size = Math.abs(numbers.grad[value]);
    return Number.isFinite(size) && size > high ? size : high;
  }, 0);
  app.bars.forEach(({ bar, reading, row, words }, i) => {
    const some = hasSome(found[i]);
    const amount = some ? found[i].amount : 0;
    const size = Number.isNaN(amount) ? 0 : Math.min(Math.abs(amount) / (most || 1), 1);
    bar.className = `bar ${signOf(amount)}`;
    bar.style.width = `${50 * size}%`;
    row.classList.toggle("waits", !some);
    setText(reading, some ? gathering(found[i]) : found[i] ? TO_COME : "·");
    reading.className = `grad ${some ? looksOf(found[i]) : found[i] ? "pending" : "zero"}`;
    row.title = some && found[i].complete && !moved.size ? words : "";
  });
  const told = found.every((it) => it && it.complete);
  setText(byId("reading"), !told ? "" : minus(moved.size ? movedReading(app) : story.reading));
  byId("reading").style.visibility = told ? "visible" : "hidden"; // keeps its place: nothing moves
  if (!told) setText(byId("reading"), minus(story.reading));
};

// The strongest leaf after a move, in Python's words; nothing where the slopes to either side of
// it differ, since a corner is told by Python alone.
const movedReading = (app) => {
  const { story, numbers, moved } = app;
  const tempo = story.tempo;
  const root = story.names[story.root];
  const result = numbers.data[story.root];
  if (!Number.isFinite(result)) return told(tempo.without, { root, result: brief(result) });
  const size = ({ value }) => Math.abs(numbers.grad[value] / (story.seed || 1));
  const strongest = app.bars.reduce((best, it) => (size(it) > size(best) ? it : best));
  const grad = numbers.grad[strongest.value] / (story.seed || 1);
  const name = story.names[strongest.value];
  if (!Number.isFinite(grad)) return "";
  if (story.count <= CHECKED && app.canMove(strongest.value)) {
    const at = numbers.data[strongest.value];
    const h = 1e-6 * Math.max(1, Math.abs(at));
    const along = (step) => (evaluate(story, new Map(moved).set(strongest.value, at + step)).data[story.root] - result) / step;
    const near = (slope) => Math.abs(slope - grad) <= 1e-3 * Math.max(1, Math.abs(grad));
    if (!near(along(h)) || !near(along(-h))) return told(tempo.corner, { name });
  }
  if (!grad) return told(tempo.still, { root });
  const speed = tempo.times[String(Math.abs(grad))] || told(tempo.speed, { number: brief(Math.abs(grad)) });
  return told(grad > 0 ? tempo.rises : tempo.falls, { name, root, speed });
};
