// The graph: one picture at a time. A picture's boxes are made once; a step only changes what is
// written in them and how they are marked, so nothing moves.
const SIZES = { v: [156, 64], n: [64, 36], g: [176, 64], o: [136, 30] };
const PULL = 5;
const LONGEST_TITLE = 18;
const INDENT = 10; // of what is written in a box, on either side

const drawPicture = (app, picture) => {
  const { story } = app;
  const { layout, refs, lines } = picture;
  const count = layout.kinds.length;
  const drawing = svg("svg", {
    class: "graph", viewBox: `0 0 ${layout.width} ${layout.height}`, role: "group",
    "aria-label": `Graph of ${picture.title}`,
  }, markers());
  const drawn = { picture, drawing, boxes: [], lines: [] };
  const wires = svg("g", { "aria-hidden": "true" });
  const plates = svg("g", { "aria-hidden": "true" });
  drawing.append(wires);
  lines.forEach((line, i) => drawn.lines.push(drawLine(story, picture, line, i, wires, plates)));
  for (let i = 0; i < count; i += 1) {
    const box = drawBox(app, layout.kinds[i], refs[i]);
    box.group.setAttribute("transform", `translate(${layout.x[i]} ${layout.y[i]})`);
    Object.assign(box, { x: layout.x[i], y: layout.y[i], size: SIZES[layout.kinds[i]] });
    drawing.append(box.group);
    drawn.boxes.push(box);
  }
  drawing.append(plates);
  return drawn;
};

const markers = () => {
  const marker = (id, kind, orient) => svg("marker", {
    id, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
    markerUnits: "userSpaceOnUse", orient,
  }, svg("path", { d: "M0 0L8 4L0 8z" }));
  return svg("defs", {}, marker("ahead", "head", "auto"), marker("back", "tail", "auto-start-reverse"));
};

const drawLine = (story, picture, line, i, wires, plates) => {
  const { layout, refs } = picture;
  const [from, to] = [layout.ends[2 * i], layout.ends[2 * i + 1]];
  const many = line < -1 ? " many" : "";
  const path = { d: layout.paths[i] };
  const ahead = svg("path", { ...path, class: `line${many}`, "marker-end": "url(#ahead)" });
  wires.append(ahead);
  const kind = layout.kinds[from];
  const takes = kind === "v" || kind === "n" ? story.takes[refs[from]] : 1;
  const back = takes && svg("path", {
    ...path, class: `pull${many}`, transform: `translate(0 ${PULL})`, "marker-start": "url(#back)",
  });
  if (back) wires.append(back);
  const drawn = { from: refs[from], to: refs[to], many, ahead, back };
  if (line >= 0 && takes) {
    drawn.edge = story.starts[refs[to]] + line;
    drawn.x = layout.labels[2 * i];
    const y = layout.labels[2 * i + 1];
    drawn.plate = svg("rect", { class: "plate", y: y - 4, height: 15, rx: 4 });
    drawn.amount = svg("text", { class: "amount", x: drawn.x, y: y + 7 });
    plates.append(drawn.plate, drawn.amount);
  }
  return drawn;
};

const drawBox = (app, kind, ref) => {
  const { story } = app;
  const [width, height] = SIZES[kind];
  const title = svg("title");
  const frame = svg("rect", { class: "frame", width, height, rx: 8 });
  const text = (name, x, y, written = "") => svg("text", { class: name, x, y }, written);
  if (kind === "n") {
    return {
      kind, ref, title, group: svg("g", { class: "number" }, title, frame,
        text("name", width / 2, height / 2 + 4, clipped(story.names[ref].replaceAll("-", "−"), 8))),
    };
  }
  const box = { kind, ref, title };
  const act = () => (kind === "v" ? app.select(ref) : app.goTo(ref));
  const attributes = { tabindex: 0, role: "button", "data-ref": ref, onclick: act,
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      act();
    } };
  if (kind === "o") {
    const named = ref < 0 ? plural(-ref, "more value") : nameOf(story, ref);
    box.group = svg("g", ref < 0 ? {} : attributes, title, frame,
      text("name", width / 2, height / 2 + 4, titled(named, 20, width - 2 * INDENT)));
    box.base = "outside";
    setText(title, `outside this group: ${named}`);
    return box;
  }
  box.data = text("digits data", width - 10, 37);
  box.grad = text("digits", width - 10, 54);
  if (kind === "g") {
    box.base = "group";
    box.bar = svg("rect", { class: "progress", x: 10, y: 58, width: 0, height: 2, rx: 1 });
    const picture = story.pictures[ref - story.count];
    box.group = svg("g", attributes, title,
      svg("rect", { class: "behind", x: 5, y: 5, width, height, rx: 8 }), frame,
      text("name", 10, 18, titled(picture.title, 20, width - 2 * INDENT)), text("what", 10, 37, "values"), box.data,
      text("what", 10, 54, "strongest"), box.grad, box.bar);
    return box;
  }
  const leaf = story.starts[ref] === story.starts[ref + 1];
  box.base = `value${leaf ? " leaf" : ""}${ref === story.root ? " root" : ""}`;
  const [name, symbol] = boxTitle(story, ref);
  box.group = svg("g", attributes, title, frame, text("name", 10, 18, name),
    text("symbol", width - 10, 18, symbol), text("what", 10, 37, "data"), box.data,
    text("what", 10, 54, "grad"), box.grad);
  return box;
};

const nameOf = (story, ref) =>
  (ref < story.count ? story.names[ref] : story.pictures[ref - story.count].title);

// How wide a title is in the font of this page, which may be any.
const pen = document.createElement("canvas").getContext("2d");
const widthOf = (text) => {
  pen.font = `650 13px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
};
const titled = (name, length, room) => {
  let short = shortened(name, length);
  for (let less = length - 1; less > 4 && widthOf(short) > room; less -= 1) short = shortened(name, less);
  return short;
};

const boxTitle = (story, ref) => {
  const [name, expression, symbol] = [story.names[ref], story.expressions[ref], story.ops[story.op[ref]][1]];
  const whole = `${name} = ${expression}`;
  const room = SIZES.v[0] - 2 * INDENT;
  if (expression && whole.length <= LONGEST_TITLE && widthOf(whole) <= room) return [whole, ""];
  const sign = clipped(symbol, 7);
  return [titled(name, LONGEST_TITLE - sign.length, room - 8 * sign.length), sign];
};

// Write the numbers of a step into the picture that stands.
const updatePicture = (app, drawn) => {
  const { story, numbers, position, seen } = app;
  const step = stepAt(story, position);
  const active = position === 0 ? -2 : partWith(story, drawn.picture, step.value);
  const phase = step.phase === "forward" ? "forward" : "backward";
  for (const box of drawn.boxes) {
    if (box.kind === "v") updateValue(app, box, step);
    else if (box.kind === "g") updateGroup(app, box);
    const marks = [box.base || "number"];
    if (box.ref === active && box.kind !== "o") marks.push("now", phase);
    if (box.kind === "v") {
      if (box.ref === app.selected) marks.push("chosen");
      if (!app.moved.size && story.births.has(box.ref)) marks.push("born");
      if (!app.moved.size && story.kinks.has(box.ref)) marks.push("kink");
      box.group.setAttribute("aria-pressed", String(box.ref === app.selected));
    }
    setClass(box.group, marks.join(" "));
  }
  const done = backwardDone(story, seen);
  for (const line of drawn.lines) {
    const known = line.from >= story.count || line.from < 0 || dataIsKnown(story, seen, line.from);
    const now = line.to === active && (line.edge === undefined || line.to === step.value);
    setClass(line.ahead, lineClass("line", line, known, now && step.phase === "forward"));
    if (line.back) {
      const whole = line.to >= story.count || line.to < 0;
      const passed = seen === 0 || (done > 0 && (whole || hasPassed(story, seen, line.to)));
      const pulls = now && step.phase === "backward";
      setClass(line.back, lineClass("pull", line, passed || pulls, pulls));
      if (line.amount) {
        const given = story.given[line.edge];
        const asked = pulls && app.hidden && given;
        const shown = asked ? "?" : passed && given ? plus(numbers.amount[line.edge]) : "";
        setText(line.amount, shown);
        const width = shown ? 6.8 * shown.length + 6 : 0;
        line.plate.setAttribute("x", line.x - width / 2);
        line.plate.setAttribute("width", width);
      }
    }
  }
  return drawn.boxes.find((box) => box.ref === active && box.kind !== "o");
};

const lineClass = (kind, line, reached, now) =>
  `${kind}${line.many}${reached ? "" : " later"}${now ? " now" : ""}`;

const updateValue = (app, box, step) => {
  const { story, numbers, seen } = app;
  const known = dataIsKnown(story, seen, box.ref);
  const asked = app.hidden && step.value === box.ref;
  const shown = known ? brief(numbers.data[box.ref]) : "·";
  setText(box.data, asked && step.phase === "forward" ? "?" : shown);
  const has = gathered(story, numbers, seen, box.ref);
  const some = hasSome(has);
  let grad = "·";
  if (!story.takes[box.ref]) grad = "takes none";
  else if (asked && step.phase === "seed") grad = "?";
  else if (some) grad = gathering(has);
  else if (has) grad = TO_COME;
  setText(box.grad, grad);
  const looks = some && story.takes[box.ref] ? looksOf(has) : has && story.takes[box.ref] ? "pending" : "zero";
  setClass(box.grad, `digits ${looks}`);
  let said = "no gradient yet";
  if (some) said = `gradient ${brief(has.amount)}${has.complete ? "" : " so far"}`;
  else if (has && story.takes[box.ref]) said = "gradient to come";
  const expression = story.expressions[box.ref];
  const made = expression ? ` = ${expression}` : "";
  const born = story.births.has(box.ref) && !app.moved.size ? "; what is not finite is born here" : "";
  const kink = story.kinks.has(box.ref) && !app.moved.size ? "; at a kink" : "";
  setText(box.title, `${story.names[box.ref]}${made}: data ${known ? shown : "not known yet"}, ${said}${born}${kink}`);
  box.group.setAttribute("aria-label", box.title.textContent);
};

const updateGroup = (app, box) => {
  const { story, numbers, seen } = app;
  const picture = story.pictures[box.ref - story.count];
  const members = membersOf(story, picture);
  if (picture.strongestOf !== numbers) {
    let strongest = 0;
    for (const value of members) {
      const grad = numbers.grad[value];
      if (Math.abs(grad) > Math.abs(strongest) || Number.isNaN(grad)) strongest = grad;
    }
    Object.assign(picture, { strongest, strongestOf: numbers });
  }
  const step = stepAt(story, Math.max(seen, 0));
  let share = seen < 0 ? 0 : 1;
  if (step.phase === "forward") share = firstAtLeast(members, step.value + 1) / members.length;
  else if (step.phase === "backward") share = 1 - firstAtLeast(members, step.value) / members.length;
  else if (step.phase === "seed") share = 0;
  const back = backwardDone(story, seen) >= 0;
  setText(box.data, thousands(members.length));
  const finished = seen === 0 || (back && share === 1);
  setText(box.grad, finished ? signed(picture.strongest) : back ? TO_COME : "·");
  setClass(box.grad, `digits ${finished ? signOf(picture.strongest) : back ? "pending" : "zero"}`);
  box.bar.setAttribute("width", seen === 0 ? 0 : 156 * share);
  setClass(box.bar, `progress ${back ? "backward" : "forward"}`);
  setText(box.title, `group ${picture.title}: ${plural(members.length, "value")}`
    + `${finished ? `, strongest gradient ${brief(picture.strongest)}` : ""}; open it`);
  box.group.setAttribute("aria-label", box.title.textContent);
};
