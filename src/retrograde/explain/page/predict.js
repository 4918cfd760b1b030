// Predict first: a step's numbers stay hidden until the class has typed or said a guess.
const MOST_ASKED = 4;

// The edges whose contributions are asked for; at the forward steps and the seed one number.
const askedEdges = (story, value) => {
  const edges = [];
  for (let e = story.starts[value]; e < story.starts[value + 1] && edges.length < MOST_ASKED; e += 1) {
    if (story.given[e]) edges.push(e);
  }
  return edges;
};

// What a step asks: [[question, truth], …]; nothing where there is nothing to work out.
const questionsOf = (app, step) => {
  const { story, numbers } = app;
  const { phase, value } = step;
  const name = story.names[value];
  if (phase === "whole" || story.arrays) return [];
  if (phase === "seed") return [[`gradient of ${name}`, story.seed]];
  if (phase === "forward") {
    return story.starts[value] === story.starts[value + 1] ? [] : [[name, numbers.data[value]]];
  }
  return askedEdges(story, value).map((e) => [`${story.names[story.inputs[e]]} receives`, numbers.amount[e]]);
};

const questionWords = (app, { phase, value }) => {
  const { story, numbers } = app;
  const name = story.names[value];
  if (phase === "seed") return `Backward starts at ${name}. Which gradient does it start with?`;
  const made = `${name} = ${story.expressions[value]}`;
  if (phase === "forward") return `${made}. What is it?`;
  return `${made}, and ${brief(numbers.grad[value])} arrives at ${name}. What does each input receive?`;
};

// Right is within one percent, or as near as the digits that were written can tell.
const isRight = (written, truth) => {
  const text = written.trim().replace("−", "-").replace(",", ".");
  const fraction = /^([-+]?[\d.]+)\s*\/\s*([\d.]+)$/.exec(text);
  const guess = fraction ? Number(fraction[1]) / Number(fraction[2]) : Number(text);
  if (!text || Number.isNaN(guess)) return Number.isNaN(truth) && /^nan$/i.test(text);
  if (guess === truth) return true;
  const decimals = (text.split(".")[1] || "").length;
  const near = decimals ? 0.5000001 * 10 ** -decimals : 0;
  return Math.abs(guess - truth) <= Math.max(near, 0.01 * Math.abs(truth));
};

// Turn predicting on or off; it begins where the reader stands, at the start of the pass.
const predict = (app, on = !app.predicting) => {
  app.predicting = on;
  app.tally = { right: 0, asked: 0 };
  byId("predict").setAttribute("aria-pressed", String(on));
  app.at(app.position);
};

// What may be seen at a position: all but the step's own numbers, while these are asked for.
const hide = (app) => {
  const asks = app.predicting && questionsOf(app, stepAt(app.story, app.position)).length > 0
    && !app.answered.has(app.position);
  app.hidden = Boolean(asks);
  const before = app.position - 1;
  app.seen = app.predicting && app.position === 0 ? NOTHING
    : !asks ? app.position : before || NOTHING;
};

const showQuestion = (app) => {
  const panel = byId("question");
  const step = stepAt(app.story, app.position);
  panel.hidden = !app.predicting;
  if (!app.predicting) return;
  const { right, asked } = app.tally;
  setText(byId("tally"), asked ? `${right} of ${asked} right` : "nothing guessed yet");
  const answered = app.answered.get(app.position) || [];
  const key = app.hidden ? `ask ${app.position}` : `told ${app.position} ${answered.length}`;
  const place = byId("guesses");
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  const told = app.answered.get(app.position);
  byId("reveal").hidden = !app.hidden;
  byId("spoken").hidden = app.hidden || !told || told.length > 0;
  if (app.hidden) {
    const fields = questionsOf(app, step).map(([name]) => html("label", {}, html("span", {}, name),
      html("input", { type: "text", inputmode: "text", autocomplete: "off", spellcheck: "false",
        onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); answer(app); } } })));
    place.replaceChildren(...fields);
    return;
  }
  place.replaceChildren(...(told || []).map(([name, written, truth, right]) =>
    html("p", { class: right ? "right" : "wrong" },
      `${right ? "✓" : "✗"} ${written ? `${name} ${brief(truth)}` : right ? "said right" : "said wrong"}`,
      html("span", {}, written ? ` (guess: ${written})` : ""))));
};

// Reveal the step. Guesses that were typed are compared.
const answer = (app) => {
  if (!app.hidden) return;
  const fields = [...byId("guesses").querySelectorAll("input")];
  const asked = questionsOf(app, stepAt(app.story, app.position));
  const told = asked.map(([name, truth], i) => {
    const written = fields[i] ? fields[i].value : "";
    return [name, written, truth, isRight(written, truth)];
  });
  const guessed = told.filter(([, written]) => written);
  app.tally.asked += guessed.length;
  app.tally.right += guessed.filter(([, , , right]) => right).length;
  app.answered.set(app.position, guessed);
  app.at(app.position);
  byId("reveal").blur();
};

// A guess that was said, and not typed: the class reports how it was.
const said = (app, right) => {
  app.answered.set(app.position, [["said", "", NaN, right]]);
  app.tally.asked += 1;
  app.tally.right += right ? 1 : 0;
  app.at(app.position);
};
