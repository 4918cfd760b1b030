// Python in a worker: Pyodide and retrograde's pure core, both served beside this file.
import { loadPyodide } from "./pyodide.mjs";

const begin = async () => {
  const python = await loadPyodide({ indexURL: new URL(".", import.meta.url).href });
  const archive = await (await fetch(new URL("retrograde.zip", import.meta.url))).arrayBuffer();
  python.unpackArchive(archive, "zip", { extractDir: "/retrograde" });
  python.runPython("import sys; sys.path.insert(0, '/retrograde')");
  const explained = python.pyimport("playground").explained;
  postMessage({ ready: python.runPython("sys.version.split()[0]") });
  onmessage = ({ data }) => {
    const [page, printed, error] = explained(data.source, data.numbers).toJs();
    postMessage({ page, printed, error });
  };
};

begin().catch((error) => setTimeout(() => { throw error; }));
