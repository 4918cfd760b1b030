// The waterfall: both passes as two columns. Only the rows in sight exist.
const STEP = 44;
const LONGEST_STEP_NAME = 16;

const buildSteps = (app) => {
  const { story } = app;
  const forward = story.forward.length;
  app.columns = [
    { list: byId("forward-steps"), count: forward, first: 1, row: forwardRow },
    { list: byId("backward-steps"), count: story.backward.length + 1, first: forward + 1, row: backwardRow },
  ];
  for (const column of app.columns) {
    column.list.addEventListener("scroll", () => showColumn(app, column), { passive: true });
  }
};

const showSteps = (app, follow) => {
  for (const column of app.columns) {
    const at = app.position - column.first;
    const room = column.list.clientHeight;
    if (follow && room) {
      const here = Math.min(Math.max(at, 0), column.count - 1) * STEP;
      const { scrollTop } = column.list;
      if (app.position === 0) column.list.scrollTop = 0;
      else if (here < scrollTop || here + STEP > scrollTop + room) column.list.scrollTop = here - room / 2;
    }
    showColumn(app, column);
  }
};

const showColumn = (app, column) => {
  const { list, count, first, row } = column;
  const from = Math.max(0, Math.floor(list.scrollTop / STEP) - 3);
  const upTo = Math.min(count, from + Math.ceil((list.clientHeight || 240) / STEP) + 6);
  const rows = [];
  for (let index = from; index < upTo; index += 1) {
    const position = first + index;
    const now = app.position === position;
    const shown = app.seen === 0 || (app.seen >= position);
    const [head, detail] = row(app, index, shown);
    const button = html("button", { type: "button", class: `${now ? "now" : ""}${shown || now ? "" : " later"}`,
      "aria-current": now ? "step" : null, title: `${head} ${detail}`, tabindex: now ? 0 : -1,
      onclick: () => app.at(position) },
    html("b", {}, head), html("span", {}, now && !shown ? "?" : detail));
    rows.push(html("li", { value: String(index) }, button));
  }
  list.style.setProperty("--above", `${from * STEP}px`);
  list.style.setProperty("--below", `${(count - upTo) * STEP}px`);
  list.replaceChildren(...rows);
};

const forwardRow = (app, index, shown) => {
  const { story, numbers } = app;
  const value = story.forward[index];
  const expression = story.expressions[value];
  const name = shortened(story.names[value], LONGEST_STEP_NAME);
  const head = `${index + 1} ${name}${expression ? ` = ${expression}` : ""}`;
  return [head, shown ? `= ${brief(numbers.data[value])}` : "·"];
};

const backwardRow = (app, index, shown) => {
  const { story, numbers } = app;
  if (!index) return [`seed ${story.names[story.root]}`, shown ? `grad = ${brief(story.seed)}` : "·"];
  const value = story.backward[index - 1];
  const head = `${index} ${shortened(story.names[value], LONGEST_STEP_NAME)} = ${story.expressions[value]}`;
  if (!shown) return [head, "·"];
  const parts = [];
  for (let e = story.starts[value]; e < story.starts[value + 1] && parts.length < 5; e += 1) {
    if (story.given[e]) parts.push(`${shortened(story.names[story.inputs[e]], LONGEST_STEP_NAME)} += ${brief(numbers.amount[e])}`);
  }
  return [head, parts.join(", ")];
};
