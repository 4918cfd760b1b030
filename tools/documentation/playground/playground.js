// The playground's own page: what is typed goes to a worker that runs Python, what comes back is the
// page of its story, shown in a frame.
(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const EXAMPLES = {
    "two routes": ["(a*b + c)*(a + b)", "a=2 b=-3 c=10"],
    "a kink": ["relu(a*b + d)", "a=2 b=-3 d=6"],
    "a neuron": [
      "from retrograde import Value\n\nx = [Value(2.0, label='x1'), Value(0.0, label='x2')]\n"
      + "w = [Value(-3.0, label='w1'), Value(1.0, label='w2')]\nb = Value(6.88, label='b')\n\n"
      + "out = (w[0]*x[0] + w[1]*x[1] + b).tanh()\nout.backward()\n", ""],
    "a branch": [
      "from retrograde import Value\n\ndef leaky(x):\n    if x > 0:\n        return x\n    return 0.1 * x\n\n"
      + "a = Value(1.0, label='a')\nb = Value(-3.0, label='b')\nL = leaky(a*b + 5) + a\nL.backward()\n", ""],
    "a network": [
      "import retrograde as rg\n\nmodel = rg.nn.MLP(2, [3, 1], seed=1)\nloss = rg.Value(0.0)\n"
      + "for x, y in (([1.0, 2.0], 1.0), ([-1.0, 0.5], -1.0)):\n    loss = loss + (model(x) - y) ** 2\n"
      + "loss.backward()\n", ""],
  };
  let worker = null;
  let ready = false;

  const say = (words, bad = false) => {
    byId("said").textContent = words;
    byId("said").className = bad ? "bad" : "";
    byId("said").hidden = !words;
  };
  const state = (words) => { byId("state").textContent = words; };

  const begin = () => {
    ready = false;
    byId("run").disabled = true;
    byId("stop").hidden = true;
    state("Loading Python…");
    worker = new Worker("worker.mjs", { type: "module" });
    worker.onmessage = ({ data }) => {
      byId("stop").hidden = true;
      if (data.ready) {
        ready = true;
        byId("run").disabled = false;
        state(`Python ${data.ready} is ready.`);
        document.body.dataset.ready = "1";
        return;
      }
      byId("run").disabled = false;
      state("");
      say([data.printed, data.error].filter(Boolean).join("\n"), Boolean(data.error));
      if (data.page) { byId("page").srcdoc = data.page; byId("page").hidden = false; }
    };
    worker.onerror = (event) => { event.preventDefault(); state(`Python could not be loaded: ${event.message || "the worker failed"}.`); };
  };

  const run = () => {
    if (!ready) return;
    byId("run").disabled = true;
    byId("stop").hidden = false;
    say("");
    state("Running…");
    worker.postMessage({ source: byId("source").value, numbers: byId("numbers").value });
  };

  const isScript = (source) => /\n\s*\S/.test(source.trim()) || /^(from|import)\s/.test(source.trim());
  const followSource = () => { byId("numbers-field").style.visibility = isScript(byId("source").value) ? "hidden" : ""; };

  for (const name of Object.keys(EXAMPLES)) byId("examples").append(new Option(name));
  const choose = (name) => {
    [byId("source").value, byId("numbers").value] = EXAMPLES[name];
    followSource();
  };
  byId("examples").addEventListener("change", () => { choose(byId("examples").value); run(); });
  byId("source").addEventListener("input", followSource);
  byId("source").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  });
  byId("form").addEventListener("submit", (event) => { event.preventDefault(); run(); });
  byId("stop").addEventListener("click", () => { worker.terminate(); begin(); say("Stopped.", true); });
  choose("two routes");
  if (location.protocol === "file:") {
    state("The playground needs a server, since browsers load no Python from a disk: python tools/documentation serve");
  } else begin();
})();
