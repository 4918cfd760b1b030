// The story as the page was given it, unpacked into typed columns.
// An edge is one input of one value; its number is where it stands in `inputs`.
const unpack = (packed) => {
  const count = packed.op.length;
  const starts = new Int32Array(count + 1);
  for (let i = 0; i < count; i += 1) starts[i + 1] = starts[i] + packed.arity[i];
  const story = {
    ...packed,
    count,
    starts,
    inputs: Int32Array.from(packed.inputs),
    data: Float64Array.from(packed.data, Number),
    partials: Float64Array.from(packed.partials, Number),
    seed: Number(packed.seed),
    births: new Set(packed.births),
    kinks: new Set(packed.kinks),
    uses: new Int32Array(starts[count]), // the value an edge goes into
    forwardStep: new Int32Array(count).fill(-1),
    backwardStep: new Int32Array(count).fill(-1),
  };
  for (let i = 0; i < count; i += 1) story.uses.fill(i, starts[i], starts[i + 1]);
  packed.forward.forEach((value, step) => { story.forwardStep[value] = step; });
  packed.backward.forEach((value, step) => { story.backwardStep[value] = step; });
  addLedgers(story);
  addHomes(story);
  return story;
};

// The edges each step contributes along, and for each value those into its ledger, in order.
const addLedgers = (story) => {
  const { starts, inputs, takes } = story;
  const given = new Uint8Array(inputs.length);
  story.backward.forEach((value, step) => {
    const kept = story.kept[step];
    if (kept) for (const [position] of kept[1]) given[starts[value] + position] = 1;
    else for (let e = starts[value]; e < starts[value + 1]; e += 1) given[e] = takes[inputs[e]];
  });
  const ledgerStarts = new Int32Array(story.count + 1);
  for (let e = 0; e < inputs.length; e += 1) ledgerStarts[inputs[e] + 1] += given[e];
  for (let i = 0; i < story.count; i += 1) ledgerStarts[i + 1] += ledgerStarts[i];
  const next = ledgerStarts.slice();
  const ledgers = new Int32Array(ledgerStarts[story.count]);
  for (const value of story.backward) {
    for (let e = starts[value]; e < starts[value + 1]; e += 1) {
      if (given[e]) { ledgers[next[inputs[e]]] = e; next[inputs[e]] += 1; }
    }
  }
  Object.assign(story, { given, ledgerStarts, ledgers });
};

const ledgerOf = (story, value) =>
  story.ledgers.subarray(story.ledgerStarts[value], story.ledgerStarts[value + 1]);

// Pictures as objects, and the innermost picture each value lies in.
const addHomes = (story) => {
  story.home = new Int32Array(story.count);
  story.pictures = story.pictures.map(([title, parent, layout, refs, lines], index) => {
    const shape = story.layouts[layout];
    refs.forEach((ref, i) => {
      if (shape.kinds[i] === "v" || shape.kinds[i] === "n") story.home[ref] = index;
    });
    return { index, title, parent, layout: shape, refs, lines };
  });
};

// Every value in a picture, however deep, in forward order; kept once worked out.
const membersOf = (story, picture) => {
  if (!picture.members) {
    const found = [];
    const pending = [picture];
    while (pending.length) {
      const { layout, refs } = pending.pop();
      for (let i = 0; i < refs.length; i += 1) {
        const kind = layout.kinds[i];
        if (kind === "v" || kind === "n") found.push(refs[i]);
        else if (kind === "g") pending.push(story.pictures[refs[i] - story.count]);
      }
    }
    picture.members = Int32Array.from(found).sort();
  }
  return picture.members;
};

// The part of a picture that holds a value: the value itself, or one of its groups; else -1.
const partWith = (story, picture, value) => {
  let ref = value;
  let inside = story.home[value];
  while (inside !== picture.index && inside >= 0) {
    ref = story.count + inside;
    inside = story.pictures[inside].parent;
  }
  return inside < 0 ? -1 : ref;
};

const readStory = async () => {
  const element = document.getElementById("story");
  if (element.dataset.form !== "gzip") return unpack(JSON.parse(element.textContent));
  const packed = atob(element.textContent.trim());
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i += 1) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return unpack(JSON.parse(await new Response(stream).text()));
};
