// How numbers look, and small helpers for elements.
const brief = (number) => {
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (number === 0) return "0";
  const rounded = Math.abs(Number(number.toPrecision(5)));
  const text = rounded >= 1e5 || rounded < 1e-4
    ? number.toExponential(4).replace(/\.?0+e/, "e").replace("e+", "e")
    : String(Number(number.toPrecision(5)));
  return text.replaceAll("-", "−");
};
const minus = (words) => words.replace(/(^|[\s(×÷=,→])-(?=[\d.∞i])/g, "$1−");
const signOf = (number) =>
  Number.isNaN(number) ? "nan" : number > 0 ? "positive" : number < 0 ? "negative" : "zero";
const SHAPES = { positive: "▲", negative: "▼", zero: "◆", nan: "✕" };
const plus = (number) => (number > 0 ? "+" : "") + brief(number);
const signed = (number) => `${SHAPES[signOf(number)]} ${plus(number)}`;
const clipped = (text, length) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);
// The words of a path give way to its numbers, which tell names apart; what is still too long is
// cut in the middle, since names differ at their ends.
const PATH = /^[\w.[\]#*]*[.[][\w.[\]#*]+(?: [·×][ \w.[\]#*]+)?$/;
const shortened = (name, length) => {
  if (name.length <= length) return name;
  const short = PATH.test(name) ? shortWords(name, length) : name;
  if (short.length <= length) return short;
  const tail = Math.max(Math.floor((length * 5) / 9), 1);
  const head = short.slice(0, Math.max(length - 1 - tail, 0));
  return `${head.replace(/…$/, "")}…${short.slice(-tail).replace(/^…/, "")}`;
};
const shortWords = (path, length) => {
  const words = path.match(/[a-zA-Z_]{3,}/g) || [];
  let short = path;
  for (let most = Math.max(0, ...words.map((word) => word.length)) - 2; most >= 0; most -= 1) {
    const cut = (word) => (word.length <= most + 1 ? word : `${word.slice(0, most)}…`);
    short = path.replace(/[a-zA-Z_]{3,}/g, cut).replace(/…(\.…)+/g, "…");
    if (short.length <= length) break;
  }
  return short;
};
// How much of their beginnings names have in common, up to a dot; 0 where all are short.
const commonPrefix = (names, length) => {
  if (names.length < 2 || names.every((name) => name.length <= length)) return 0;
  let shared = names[0];
  for (const name of names) while (!name.startsWith(shared)) shared = shared.slice(0, -1);
  return shared.lastIndexOf(".") + 1;
};
const thousands = (count) => count.toLocaleString("en");
const plural = (count, one) => `${thousands(count)} ${one}${count === 1 ? "" : "s"}`;

const SVG = "http://www.w3.org/2000/svg";
const element = (make, tag, attributes, children) => {
  const made = make(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
};
const html = (tag, attributes = {}, ...children) =>
  element((name) => document.createElement(name), tag, attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  element((name) => document.createElementNS(SVG, name), tag, attributes, children);
const byId = (id) => document.getElementById(id);
const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const setClass = (node, name) => {
  if (node.getAttribute("class") !== name) node.setAttribute("class", name);
};
// A sentence of Python's with its names and numbers put in.
const told = (template, parts) => template.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
// A gradient as far as it has come: one of which more is to come never looks like no effect.
const gathering = ({ amount, complete }) =>
  (complete ? signed(amount) : amount ? `${signed(amount)} …` : "○ 0 …");
const looksOf = ({ amount, complete }) => (complete || amount ? signOf(amount) : "pending");
const TO_COME = "○ to come";
const gradientOf = (number) => html("span", { class: `grad ${signOf(number)}` }, signed(number));
