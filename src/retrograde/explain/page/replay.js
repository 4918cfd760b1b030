// The numbers of the pass: as recorded, or worked out again from moved leaves by the law's rows.
// Contributions are partial × upstream and are added in the order of the steps, as Python does.

// Gradients, contributions and running gradients that follow from partials.
const pull = (story, data, partials) => {
  const grad = new Float64Array(story.count);
  const amount = new Float64Array(story.inputs.length);
  const after = new Float64Array(story.inputs.length);
  grad[story.root] = story.seed;
  story.backward.forEach((value, step) => {
    const kept = story.kept[step];
    const start = story.starts[value];
    if (kept) {
      grad[value] = Number(kept[0]);
      for (const [position, given, total] of kept[1]) {
        amount[start + position] = Number(given);
        after[start + position] = grad[story.inputs[start + position]] = Number(total);
      }
      return;
    }
    for (let e = start; e < story.starts[value + 1]; e += 1) {
      if (story.given[e]) {
        amount[e] = partials[e] * grad[value];
        after[e] = grad[story.inputs[e]] += amount[e];
      }
    }
  });
  return { data, partials, grad, amount, after };
};

const recorded = (story) => pull(story, story.data, story.partials);

// The whole pass again, leaves standing at `leaves` (a Map from value to number).
const evaluate = (story, leaves) => {
  const data = story.data.slice();
  const partials = story.partials.slice();
  for (const [value, number] of leaves) data[value] = number;
  for (let value = 0; value < story.count; value += 1) {
    const start = story.starts[value];
    const arity = story.starts[value + 1] - start;
    const name = story.ops[story.op[value]][0];
    const row = law[name];
    if (!arity || (!row && !wide[name])) continue;
    const numbers = [];
    for (let i = 0; i < arity; i += 1) numbers.push(data[story.inputs[start + i]]);
    if (row) {
      data[value] = row.value(...numbers);
      for (let i = 0; i < arity; i += 1) partials[start + i] = row.partials[i](...numbers, data[value]);
    } else {
      data[value] = wide[name].value(numbers);
      partials.set(wide[name].partials(numbers), start);
    }
  }
  return pull(story, data, partials);
};

// Values that cannot be moved because an op the page does not know would have to be run again.
const fixedValues = (story) => {
  const fixed = new Uint8Array(story.count);
  for (let value = story.count - 1; value >= 0; value -= 1) {
    const name = story.ops[story.op[value]][0];
    const known = law[name] || wide[name];
    const start = story.starts[value];
    if (story.starts[value + 1] > start && (fixed[value] || !known)) {
      for (let e = start; e < story.starts[value + 1]; e += 1) fixed[story.inputs[e]] = 1;
    }
  }
  return fixed;
};

const close = (left, right) =>
  Object.is(left, right) || left === right ||
  Math.abs(left - right) <= 1e-9 * Math.max(Math.abs(left), Math.abs(right));

// Why nothing can be moved, or null: the page must first find the recorded numbers itself.
const whyFixed = (story, numbers) => {
  if (story.arrays) return "These values are arrays, shown by their norms; this page keeps too few of their numbers.";
  if (Object.keys(story.kept).length) {
    return "Some gradients pass through a hook or a rule written in Python, which this page cannot run.";
  }
  const again = evaluate(story, new Map());
  for (let value = 0; value < story.count; value += 1) {
    if (!close(again.data[value], numbers.data[value]) || !close(again.grad[value], numbers.grad[value])) {
      return `${story.names[value]} no longer follows from its inputs: `
        + "data was changed after it was computed.";
    }
  }
  return null;
};

// ---- where the pass stands ---------------------------------------------------------------------
// Position 0 is the whole pass, finished; then the forward steps, the seed, the backward steps.
// What may be shown goes by `seen`, a position too, which lags behind while a step is predicted;
// NOTHING is seen before a prediction of the first step.
const NOTHING = -1;

const seedPosition = (story) => story.forward.length + 1;
const lastPosition = (story) => story.forward.length + 1 + story.backward.length;

const stepAt = (story, position) => {
  if (position === 0) return { phase: "whole", value: story.root, index: 0 };
  const index = position - 1;
  const later = index - story.forward.length - 1;
  if (later < -1) return { phase: "forward", value: story.forward[index], index };
  if (later < 0) return { phase: "seed", value: story.root, index: 0 };
  return { phase: "backward", value: story.backward[later], index: later };
};

// How many backward steps are over: negative before the seed.
const backwardDone = (story, seen) =>
  (seen === 0 ? story.backward.length : seen - story.forward.length - 1);

const dataIsKnown = (story, seen, value) => seen === 0 || story.forwardStep[value] < seen;

// Whether a value has handed on what it holds.
const hasPassed = (story, seen, value) =>
  story.backwardStep[value] >= 0 && story.backwardStep[value] < backwardDone(story, seen);

// The gradient a value has gathered, from how many uses: {amount, count, complete}; null before
// the backward pass.
const gathered = (story, numbers, seen, value) => {
  const done = backwardDone(story, seen);
  if (done < 0) return null;
  const ledger = ledgerOf(story, value);
  let low = 0;
  let high = ledger.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (story.backwardStep[story.uses[ledger[middle]]] < done) low = middle + 1;
    else high = middle;
  }
  if (low === ledger.length) return { amount: numbers.grad[value], count: low, complete: true };
  const held = value === story.root ? story.seed : 0;
  return { amount: low ? numbers.after[ledger[low - 1]] : held, count: low, complete: false };
};

// Whether any of a value's gradient is there to be seen.
const hasSome = (has) => Boolean(has) && (has.complete || has.count > 0);

const firstAtLeast = (sorted, bound) => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
};
