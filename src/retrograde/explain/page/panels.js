// The panels beside the graph: this step, the ledger, the source, the thermometer.

const siteOf = (story, value) => story.sites[story.site[value]] || null;
const fileName = (path) => path.split(/[\\/]/).pop();

const STEP_ROWS = 60;

const showStep = (app) => {
  const { story, position, hidden } = app;
  const step = stepAt(story, position);
  const total = step.phase === "forward" ? story.forward.length : story.backward.length;
  const panel = byId("step");
  panel.dataset.phase = step.phase;
  panel.classList.toggle("asks", hidden);
  const place = `step ${thousands(step.index + 1)} of ${thousands(total)}`;
  const phases = { whole: "The whole pass", forward: `Forward · ${place}`, seed: "Backward · the seed",
    backward: `Backward · ${place}` };
  setText(byId("phase"), phases[step.phase]);
  setText(byId("words"), hidden ? questionWords(app, step) : wordsOf(app, step));
  setText(byId("adding"), step.phase === "backward" && !hidden ? addingWords(app, step.value) : "");
  const rows = [];
  const backward = step.phase === "backward";
  const end = position && step.phase !== "seed" && !hidden ? story.starts[step.value + 1] : 0;
  for (let e = story.starts[step.value]; e < end && rows.length < STEP_ROWS; e += 1) {
    if (story.given[e]) rows.push(backward ? contributionRow(app, e) : partialRow(app, e));
  }
  const [left, right] = byId("sums").tHead.rows[0].cells;
  setText(left, backward ? "what each input receives" : "its slope along each input, kept for the way back");
  setText(right, backward ? "adds" : "partial");
  byId("sums").hidden = !rows.length;
  byId("sums").tBodies[0].replaceChildren(...rows);
  const site = position ? siteOf(story, step.value) : null;
  setText(byId("where"), site ? `${fileName(site[0])}, line ${site[1]}` : "");
  const outside = position > 0 && partWith(story, app.picture, step.value) < 0;
  byId("elsewhere").hidden = !outside;
  const home = story.pictures[story.home[step.value]].title;
  setText(byId("elsewhere"), outside ? `This step happens in ${home}: go there` : "");
};

const wordsOf = (app, { phase, value, index }) => {
  const { story, numbers, moved } = app;
  const name = story.names[value];
  if (phase === "whole") {
    const [ahead, back] = [plural(story.forward.length, "step"), plural(story.backward.length, "step")];
    const result = app.predicting ? "" : ` = ${brief(numbers.data[value])}`;
    return `${name}${result}. ${ahead} forwards compute it; ${back} backwards, `
      + `from a seed of ${brief(story.seed)}, find how it depends on each leaf. Press ▶ or → to watch.`;
  }
  if (phase === "seed") return minus(story.seed_words);
  const made = story.expressions[value] ? `${name} = ` : "";
  if (!moved.size) {
    return minus(phase === "forward" ? made + story.forward_words[index] : story.backward_words[index]);
  }
  const [op, , rule] = story.ops[story.op[value]];
  if (phase === "backward") return `${op} ${rule}`;
  const expression = story.expressions[value] ? `${story.expressions[value]} = ` : "";
  return `${name} = ${expression}${brief(numbers.data[value])}`;
};

// Why a contribution is added: what other uses have already given.
const addingWords = (app, value) => {
  const { story, numbers } = app;
  const words = [];
  const names = [];
  const seen = new Set();
  for (let e = story.starts[value + 1] - 1; e >= story.starts[value]; e -= 1) {
    const into = story.inputs[e];
    const ledger = ledgerOf(story, into);
    const place = ledger.indexOf(e);
    if (place < 1 || !story.given[e] || seen.has(into)) continue;
    seen.add(into);
    const earlier = new Set(Array.from(ledger.subarray(0, place), (each) => story.uses[each]));
    const [first] = earlier;
    const kind = earlier.size > 1 ? "many" : first === value ? "same" : "one";
    names.unshift(story.names[into]);
    words.unshift(told(story.adding[kind], { name: story.names[into], held: brief(numbers.after[ledger[place - 1]]),
      use: story.expressions[first] || story.names[first], count: thousands(earlier.size) }));
  }
  if (!words.length) return "";
  const others = names.slice(1);
  const more = others.length > 3 ? plural(others.length, "other input") : others.join(" and ");
  return `${words[0]}.${more ? ` ${told(story.adding.more, { names: more })}.` : ""}`;
};

const partialRow = (app, e) => html("tr", { "data-edge": e },
  html("th", { scope: "row" }, valueButton(app, app.story.inputs[e])),
  html("td", { class: "digits" }, brief(app.numbers.partials[e])));

const contributionRow = (app, e) => {
  const { story, numbers } = app;
  const into = story.inputs[e];
  const before = ledgerOf(story, into);
  const place = before.indexOf(e);
  const held = place > 0 ? numbers.after[before[place - 1]] : into === story.root ? story.seed : 0;
  const running = html("span", { class: held ? "adds" : "" },
    `grad ${brief(held)} → ${brief(numbers.after[e])}`);
  return html("tr", { "data-edge": e },
    html("th", { scope: "row" }, valueButton(app, into),
      html("div", {}, product(numbers, story, e), " ", running)),
    html("td", {}, gradientOf(numbers.amount[e])));
};

const product = (numbers, story, e) =>
  html("span", {}, `partial ${brief(numbers.partials[e])} × upstream ${brief(numbers.grad[story.uses[e]])}`);

const valueButton = (app, value, length = 22, prefix = 0) => {
  const name = app.story.names[value];
  const choose = () => app.select(value, true);
  return html("button", { type: "button", class: "name", title: name, onclick: choose }, prefix ? `…${shortened(name.slice(prefix), length)}` : shortened(name, length));
};

// ---- the ledger --------------------------------------------------------------------------------

const LEDGER_ROWS = 200;

const showLedger = (app) => {
  const { story, numbers, selected, seen } = app;
  const ledger = ledgerOf(story, selected);
  const expression = story.expressions[selected];
  setText(byId("ledger-name"), story.names[selected]);
  const done = backwardDone(story, seen);
  const known = dataIsKnown(story, seen, selected) ? brief(numbers.data[selected]) : "not known yet";
  setText(byId("ledger-data"), `${expression ? `= ${expression} ` : ""}= ${known}`);
  showArray(story, selected);
  const rows = [];
  for (const e of ledger.subarray(0, LEDGER_ROWS)) {
    const use = story.uses[e];
    const given = story.backwardStep[use] < done;
    const detail = given ? product(numbers, story, e)
      : html("span", {}, `to come, in backward step ${thousands(story.backwardStep[use] + 1)}`);
    rows.push(html("tr", {}, html("th", { scope: "row" }, valueButton(app, use), html("div", {}, detail)),
      html("td", {}, given ? gradientOf(numbers.amount[e]) : "·")));
  }
  const table = byId("ledger-rows");
  table.hidden = !rows.length;
  table.tBodies[0].replaceChildren(...rows);
  setText(byId("ledger-more"), ledger.length > LEDGER_ROWS
    ? `and ${plural(ledger.length - LEDGER_ROWS, "more contribution")}; the total counts them all` : "");
  const total = byId("ledger-total");
  const has = gathered(story, numbers, seen, selected);
  const whole = gradientOf(numbers.grad[selected]);
  if (!story.takes[selected]) total.replaceChildren("It takes no gradient.");
  else if (!has && ledger.length) total.replaceChildren(`${plural(ledger.length, "contribution")} to come`);
  else if (!has) total.replaceChildren("The backward pass has not begun.");
  else if (selected === story.root && !ledger.length) total.replaceChildren("The pass starts here: its gradient is the seed, ", whole);
  else if (!ledger.length) total.replaceChildren("Nothing reaches it: its gradient is ", gradientOf(0));
  else if (!hasSome(has)) total.replaceChildren(`${plural(ledger.length, "contribution")} to come`);
  else if (!has.complete) total.replaceChildren("so far ", html("span", { class: `grad ${looksOf(has)}` }, gathering(has)));
  else {
    const amounts = Array.from(ledger.subarray(0, 5), (e) => brief(numbers.amount[e]));
    const sum = `${amounts.join(" + ").replaceAll("+ −", "− ")} = `;
    const few = ledger.length > 1 && ledger.length <= 5;
    total.replaceChildren(`${plural(ledger.length, "contribution")}: ${few ? sum : ""}`, whole);
  }
};

// ---- arrays ------------------------------------------------------------------------------------

const CELL = 10;

// What is known of an array, and heat maps of samples of its numbers and of its gradient. A cell of
// the gradient unfolds into the products it is the sum of.
const showArray = (story, selected) => {
  const panel = byId("array");
  panel.hidden = !story.arrays;
  if (!story.arrays) return;
  const [shape, value, grad] = story.arrays[selected];
  const maps = story.maps[selected] || [null, null];
  const cells = (story.cells || {})[selected];
  const unfolded = html("div", { class: "unfolded", "aria-live": "polite" });
  const gradient = heatMap(maps[1], "gradient");
  if (cells && gradient) unfolding(gradient, maps[1], cells, unfolded);
  panel.replaceChildren(
    html("p", {}, `shape ${shape}`),
    html("p", {}, value ? `value: ${minus(value)}` : "value: not looked at"), heatMap(maps[0], "value"),
    html("p", {}, grad ? `gradient: ${minus(grad)}` : "gradient: none"), gradient, unfolded);
};

const heatMap = (rows, what) => {
  if (!rows || !rows.length) return "";
  const canvas = html("canvas", { role: "img", "aria-label": `heat map of a sample of the ${what}` });
  canvas.width = rows[0].length * CELL;
  canvas.height = rows.length * CELL;
  paint(canvas, rows, -1);
  return canvas;
};

const paint = (canvas, rows, chosen) => {
  const most = rows.flat().reduce((high, x) => (Math.abs(x) > high ? Math.abs(x) : high), 0) || 1;
  const paper = canvas.getContext("2d");
  rows.forEach((row, i) => row.forEach((x, j) => {
    paper.fillStyle = colourOf(Number(x) / most);
    paper.fillRect(j * CELL, i * CELL, CELL, CELL);
  }));
  if (chosen < 0) return;
  const width = rows[0].length;
  paper.strokeRect((chosen % width) * CELL + 0.5, Math.floor(chosen / width) * CELL + 0.5, CELL - 1, CELL - 1);
};

// A click, or the arrow keys, choose a cell.
const unfolding = (canvas, rows, cells, into) => {
  const width = rows[0].length;
  let chosen = -1;
  const choose = (cell) => {
    chosen = cell;
    paint(canvas, rows, cell);
    showCell(cells[cell], into);
  };
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", "heat map of the gradient: choose a cell with the arrow keys to unfold it");
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const part = (at, from, size, count) => Math.min(count - 1, Math.max(0, Math.floor(((at - from) / size) * count)));
    choose(part(event.clientY, box.top, box.height, rows.length) * width + part(event.clientX, box.left, box.width, width));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    choose(chosen < 0 ? 0 : Math.min(cells.length - 1, Math.max(0, chosen + step)));
  });
  into.replaceChildren(html("p", {}, "Click a cell of the gradient to see the products it is the sum of."));
};

const showCell = ([name, number, count, entries], into) => {
  const row = ([label, ...numbers]) => {
    const [partial, upstream, amount] = numbers.map(Number);
    return html("tr", {},
      html("th", { scope: "row" }, label, html("div", {}, `${brief(partial)} × upstream ${brief(upstream)}`)),
      html("td", {}, gradientOf(amount)));
  };
  into.replaceChildren(
    html("p", {}, html("b", {}, name), ` is the sum of ${plural(count, "product")}: `, gradientOf(Number(number))),
    html("table", { class: "sums" }, html("tbody", {}, ...entries.map(row))));
};

const colourOf = (part) => {
  if (!Number.isFinite(part)) return "#000";
  const pale = Math.round(255 * (1 - Math.min(Math.abs(part), 1)));
  return part >= 0 ? `rgb(${pale},${pale},255)` : `rgb(255,${pale},${pale})`;
};

// ---- the source --------------------------------------------------------------------------------

const buildSource = (app) => {
  const { story } = app;
  const order = story.sites.map(([file, line], index) => ({ file, line, index }))
    .sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  app.sourceRows = [];
  const list = byId("source-lines");
  let previous = null;
  const byLine = new Map();
  for (const { file, line, index } of order) {
    const text = story.sites[index][3];
    const key = `${file}:${line}`;
    if (!byLine.has(key)) {
      if (!previous || previous[0] !== file) list.append(html("li", { class: "file" }, fileName(file)));
      else if (line > previous[1] + 1) {
        list.append(html("li", { class: "gap", "aria-hidden": "true" }, "⋯"));
      }
      const row = html("li", { class: "line" }, html("span", { class: "lineno" }, String(line)),
        html("code", {}, text === null ? "(the text of this line is not known)" : text));
      byLine.set(key, row);
      list.append(row);
      previous = [file, line];
    }
    app.sourceRows[index] = byLine.get(key);
  }
  byId("source").hidden = !order.length;
};

const showSource = (app) => {
  const { story, position } = app;
  const value = position ? stepAt(story, position).value : app.selected;
  const row = app.sourceRows[story.site[value]] || null;
  if (app.sourceRow === row) return;
  if (app.sourceRow) { app.sourceRow.classList.remove("now"); app.sourceRow.removeAttribute("aria-current"); }
  app.sourceRow = row;
  if (row) {
    row.classList.add("now");
    row.setAttribute("aria-current", "true");
    const list = byId("source-lines");
    const below = row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight;
    if (below || row.offsetTop < list.scrollTop) {
      list.scrollTop = row.offsetTop - list.clientHeight / 2;
    }
  }
};
