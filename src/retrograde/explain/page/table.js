// The table: everything the picture shows, as rows. Only the rows in sight exist.
const ROW = 36;

const buildTable = (app) => {
  const { story } = app;
  const scroller = byId("table");
  const body = byId("rows");
  byId("values").setAttribute("aria-rowcount", String(story.count + 1));
  scroller.addEventListener("scroll", () => { if (app.view === "table") showTable(app); }, { passive: true });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("tr");
    if (!step || !row) return;
    event.preventDefault();
    event.stopPropagation();
    const value = Math.min(Math.max(Number(row.dataset.value) + step, 0), story.count - 1);
    app.select(value);
    scrollTo(scroller, value);
    showTable(app);
    const next = body.querySelector(`[data-value="${value}"]`);
    if (next) next.focus();
  });
};

const scrollTo = (scroller, value) => {
  const [top, room] = [value * ROW, scroller.clientHeight - 2 * ROW];
  if (top < scroller.scrollTop || top > scroller.scrollTop + room) scroller.scrollTop = top - room / 2;
};

const showTable = (app, follow = false) => {
  const { story, position } = app;
  const scroller = byId("table");
  const step = stepAt(story, position);
  if (follow && position) scrollTo(scroller, step.value);
  const first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - 5);
  const last = Math.min(story.count, first + Math.ceil(scroller.clientHeight / ROW) + 10);
  const rows = [];
  for (let value = first; value < last; value += 1) rows.push(tableRow(app, value, step));
  if (first) rows.unshift(spacer(first));
  if (last < story.count) rows.push(spacer(story.count - last));
  const focused = document.activeElement?.dataset?.value;
  byId("rows").replaceChildren(...rows);
  if (focused !== undefined) {
    const again = byId("rows").querySelector(`[data-value="${focused}"]`);
    if (again) again.focus({ preventScroll: true });
  }
};

// Room for rows that are out of sight.
const spacer = (count) =>
  html("tr", { class: "spacer", "aria-hidden": "true", style: `height:${count * ROW}px` },
    html("td", { colspan: 6 }));

const tableRow = (app, value, step) => {
  const { story, numbers, position, seen } = app;
  const known = dataIsKnown(story, seen, value);
  const has = gathered(story, numbers, seen, value);
  const passed = seen === 0 || hasPassed(story, seen, value);
  const sums = [];
  for (let e = story.starts[value]; e < story.starts[value + 1] && sums.length < 4; e += 1) {
    if (!story.given[e]) continue;
    sums.push(`${shortened(story.names[story.inputs[e]], 14)} ${passed ? plus(numbers.amount[e]) : "·"}`);
  }
  if (story.starts[value + 1] - story.starts[value] > 4) sums.push("…");
  const site = siteOf(story, value);
  const chosen = value === app.selected;
  const now = position > 0 && value === step.value;
  const marks = `${now ? `now ${step.phase === "forward" ? "forward" : "backward"} ` : ""}${chosen ? "chosen" : ""}`;
  let grad = "·";
  if (!story.takes[value]) grad = "takes none";
  else if (hasSome(has)) {
    grad = html("span", { class: `grad ${looksOf(has)}` }, gathering(has));
  } else if (has) grad = html("span", { class: "grad pending" }, TO_COME);
  if (app.hidden && value === step.value && step.phase === "seed") grad = "?";
  const asked = app.hidden && value === step.value && step.phase === "forward";
  return html("tr", { class: marks, tabindex: chosen ? 0 : -1, "data-value": value,
    "aria-rowindex": value + 2, "aria-selected": String(chosen), onclick: () => app.select(value) },
  html("th", { scope: "row" }, shortened(story.names[value], 24)),
  html("td", { class: "made" }, clipped(story.expressions[value] || story.ops[story.op[value]][0], 28)),
  html("td", { class: "digits" }, asked ? "?" : known ? brief(numbers.data[value]) : "·"),
  html("td", { class: "digits" }, grad),
  html("td", { class: "made" }, sums.join(", ")),
  html("td", { class: "made" }, site ? String(site[1]) : ""));
};
