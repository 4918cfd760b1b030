// The picture as it stands, as a file: styles written into it, nothing to be loaded.
const MARGIN = 12;

const pictureNow = (app) => {
  const { drawing, picture } = app.drawn;
  const [width, height] = [picture.layout.width + 2 * MARGIN, picture.layout.height + 2 * MARGIN];
  const copy = drawing.cloneNode(true);
  const colours = getComputedStyle(document.body);
  const named = ["paper", "card", "ink", "quiet", "rule", "box", "edge", "soft", "forward", "forward-soft",
    "backward", "backward-soft", "positive", "negative", "zero", "sans", "mono"];
  const variables = named.map((name) => `--${name}:${colours.getPropertyValue(`--${name}`)}`).join(";");
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule.selectorText && rule.selectorText.includes(".graph"))
    .map((rule) => rule.cssText.replaceAll(".retrograde ", "")).join("\n");
  for (const name of ["role", "tabindex"]) for (const node of copy.querySelectorAll(`[${name}]`)) node.removeAttribute(name);
  copy.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("style", variables);
  copy.setAttribute("xmlns", SVG);
  copy.prepend(svg("style", {}, `${rules}\n* { animation: none !important; }`),
    svg("rect", { x: -MARGIN, y: -MARGIN, width, height, fill: "var(--card)" }));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
};

const fileOf = (app, ending) => {
  const name = app.story.names[app.story.root].replace(/[^\w.-]+/g, "_") || "graph";
  return `${name}-step-${app.position}.${ending}`;
};

const save = (url, name) => {
  const link = html("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
};

const asData = (text) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;

const saveSvg = (app) => save(asData(pictureNow(app).text), fileOf(app, "svg"));

const savePng = async (app) => {
  const { text, width, height } = pictureNow(app);
  const scale = Math.min(2, 16000 / Math.max(width, height));
  const image = new Image();
  image.src = asData(text);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  save(canvas.toDataURL("image/png"), fileOf(app, "png"));
};

// A link to this step, also in the clipboard where the browser lets the page write there.
const copyLink = async (app) => {
  const link = `#step-${app.position}`;
  try { location.hash = link; } catch { /* a frame may have no address */ }
  try {
    await navigator.clipboard.writeText(location.href.split("#")[0] + link);
    announce(`The link to step ${app.position} is in the clipboard.`);
  } catch {
    announce(`The address of this page now ends in ${link}: copy it from there.`);
  }
};

const listenToExports = (app) => {
  byId("save-svg").addEventListener("click", () => saveSvg(app));
  byId("save-png").addEventListener("click", () => savePng(app));
  byId("link").addEventListener("click", () => copyLink(app));
};
