// Where the drawing is looked at from: fitted, zoomed and moved by hand, or led to a step.
const READABLE = 0.62; // below this scale a step is led to, as far as the reader has not zoomed
const READABLE_FROM_AFAR = 1; // when presenting
const NEAREST = 4;
const LARGEST_FIT = 1.3;
const EDGE = 12;

const roomOf = () => [byId("graph").clientWidth || 1, byId("graph").clientHeight || 1];

const presenting = () => document.body.dataset.mode === "present";

// As large as fits whole.
const fitted = (app) => {
  const { width, height } = app.drawn.picture.layout;
  const [across, down] = roomOf();
  const most = presenting() ? NEAREST : LARGEST_FIT;
  return { x: width / 2, y: height / 2, k: Math.min(across / (width + EDGE), down / (height + EDGE), most) };
};

const setCamera = (app, camera) => {
  const [across, down] = roomOf();
  const [wide, high] = [across / camera.k, down / camera.k];
  app.camera = camera;
  app.drawn.drawing.setAttribute("viewBox",
    `${camera.x - wide / 2} ${camera.y - high / 2} ${wide} ${high}`);
  byId("graph").classList.toggle("near", camera.k > fitted(app).k * 1.01);
};

const glide = (app, to, jump = false) => {
  cancelAnimationFrame(app.gliding);
  if (jump || calm.matches || !app.camera) { setCamera(app, to); return; }
  const from = app.camera;
  const began = performance.now();
  const frame = (now) => {
    const part = Math.min(Math.max((now - began) / 220, 0), 1);
    const eased = part * (2 - part);
    const between = (name) => from[name] + (to[name] - from[name]) * eased;
    setCamera(app, { x: between("x"), y: between("y"), k: between("k") });
    if (part < 1) app.gliding = requestAnimationFrame(frame);
  };
  app.gliding = requestAnimationFrame(frame);
};

// The whole picture, in a card that is no taller than it needs.
const fit = (app, jump = true) => {
  const shell = byId("graph");
  const { width, height } = app.drawn.picture.layout;
  const filled = document.body.dataset.mode === "present" || document.fullscreenElement;
  const scale = Math.min(shell.clientWidth / (width + EDGE), LARGEST_FIT);
  const high = Math.min(Math.max((height + EDGE) * scale, 210), window.innerHeight * 0.6);
  const alone = app.story.pictures.length === 1;
  shell.style.minHeight = filled ? "" : alone ? `${high}px` : `${Math.min(Math.max(window.innerHeight * (shell.clientWidth < 700 ? 0.32 : 0.46), 240), 640)}px`;
  app.byHand = false;
  glide(app, fitted(app), jump);
};

// Bring a step's box and what it touches into sight; move nothing that is in sight and readable.
const reveal = (app, box, jump) => {
  const [across, down] = roomOf();
  const { k } = app.camera;
  const readable = app.byHand || k >= (presenting() ? READABLE_FROM_AFAR : READABLE);
  const inSight = (each) => Math.abs(each.x + each.size[0] / 2 - app.camera.x) + each.size[0] / 2 <= across / k / 2
    && Math.abs(each.y + each.size[1] / 2 - app.camera.y) + each.size[1] / 2 <= down / k / 2;
  const touched = new Set([box.ref]);
  for (const line of app.drawn.lines) if (line.to === box.ref) touched.add(line.from);
  const around = app.drawn.boxes.filter((each) => touched.has(each.ref));
  if (readable && (app.byHand ? inSight(box) : around.every(inSight))) return;
  const few = around.length <= 6 ? around : [box];
  const low = (at) => Math.min(...few.map((each) => (at ? each.y : each.x)));
  const high = (at) => Math.max(...few.map((each) => (at ? each.y : each.x) + each.size[at]));
  const middle = { x: (low(0) + high(0)) / 2, y: (low(1) + high(1)) / 2 };
  if (app.byHand) { glide(app, { x: box.x + box.size[0] / 2, y: box.y + box.size[1] / 2, k }, jump); return; }
  const near = Math.min(across / (high(0) - low(0) + 3 * EDGE), down / (high(1) - low(1) + 3 * EDGE), presenting() ? 2 : 1.1);
  glide(app, { ...middle, k: Math.max(near, fitted(app).k) }, jump);
};

// Zoom by a factor, the point of the window (or the middle) staying where it is.
const zoom = (app, factor, at = null) => {
  const { x, y, k } = app.camera;
  const least = Math.min(fitted(app).k, 1) / 2;
  const now = Math.min(Math.max(k * factor, least), NEAREST);
  const box = byId("graph").getBoundingClientRect();
  const [dx, dy] = at ? [at[0] - box.left - box.width / 2, at[1] - box.top - box.height / 2] : [0, 0];
  app.byHand = true;
  glide(app, { x: x + dx / k - dx / now, y: y + dy / k - dy / now, k: now }, Boolean(at));
};

const pan = (app, dx, dy) => {
  app.byHand = true;
  const { x, y, k } = app.camera;
  setCamera(app, { x: x - dx / k, y: y - dy / k, k });
};

// Drag to move, pinch or ctrl and wheel to zoom. A drag that begins on a box does not choose it.
const listenToHands = (app) => {
  const shell = byId("graph");
  const down = new Map();
  let dragged = false;
  shell.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    down.set(event.pointerId, [event.clientX, event.clientY]);
    if (down.size === 1) dragged = false;
  });
  shell.addEventListener("pointermove", (event) => {
    const was = down.get(event.pointerId);
    if (!was) return;
    const now = [event.clientX, event.clientY];
    const other = [...down].find(([id]) => id !== event.pointerId);
    const [dx, dy] = [now[0] - was[0], now[1] - was[1]];
    if (!dragged && Math.hypot(dx, dy) < 5) return;
    if (!dragged) { dragged = true; shell.setPointerCapture(event.pointerId); }
    if (other) {
      const apart = (one) => Math.hypot(one[0] - other[1][0], one[1] - other[1][1]) || 1;
      zoom(app, apart(now) / apart(was), [(now[0] + other[1][0]) / 2, (now[1] + other[1][1]) / 2]);
    } else pan(app, dx, dy);
    down.set(event.pointerId, now);
  });
  const lift = (event) => down.delete(event.pointerId);
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) shell.addEventListener(name, lift);
  shell.addEventListener("click", (event) => {
    if (dragged) { event.stopPropagation(); event.preventDefault(); }
    dragged = false;
  }, true);
  shell.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(app, Math.exp(-event.deltaY / 300), [event.clientX, event.clientY]);
  }, { passive: false });
};

// ---- modes -------------------------------------------------------------------------------------

// Only the graph and the sentence, in large type.
const present = (app, on = !presenting()) => {
  if (on) document.body.dataset.mode = "present";
  else delete document.body.dataset.mode;
  byId("present").setAttribute("aria-pressed", String(on));
  byId("leave").hidden = !on;
  if (on && app.view !== "graph") app.look("graph");
  fit(app);
  app.show(true);
};

const fullscreen = async () => {
  try {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await document.documentElement.requestFullscreen();
  } catch {
    announce("This browser does not allow full screen here.");
  }
};

const THEMES = "retrograde-theme";
const remembered = () => { try { return localStorage.getItem(THEMES); } catch { return null; } };

const setTheme = (theme) => {
  if (theme) document.body.dataset.theme = theme;
  const dark = theme ? theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  byId("theme").setAttribute("aria-pressed", String(dark));
  byId("theme").setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
};

const switchTheme = () => {
  const next = byId("theme").getAttribute("aria-pressed") === "true" ? "light" : "dark";
  setTheme(next);
  try { localStorage.setItem(THEMES, next); } catch { /* a page without storage forgets */ }
};

// A short word to the reader, which screen readers speak.
const announce = (words) => {
  const place = byId("said");
  setText(place, words);
  place.hidden = false;
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => { place.hidden = true; }, 4000);
};

const listenToModes = (app) => {
  const press = (id, act) => byId(id).addEventListener("click", act);
  press("zoom-in", () => zoom(app, 1.3));
  press("zoom-out", () => zoom(app, 1 / 1.3));
  press("fit", () => fit(app, false));
  press("full", fullscreen);
  press("present", () => present(app));
  press("leave", () => present(app, false));
  press("theme", switchTheme);
  document.addEventListener("fullscreenchange", () => { fit(app); app.show(true); });
  window.addEventListener("resize", () => { fit(app); app.show(true, true); });
  setTheme(remembered());
  listenToHands(app);
};
