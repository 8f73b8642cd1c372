// Runs the program of one cell. What it writes below the project's folder stays
// in the browser's storage.
"use strict";
importScripts("files.js", "wasm_exec.js");

const ROOT = "/project/";
const MOST = { outputs: 500, size: 10e6 }; // of a program, beside those that replace an earlier one; more would freeze the page

async function get(url) {
  const r = await fetch(url);
  if (!r.ok) throw new Error(`${url}: ${r.status}`);
  return new Uint8Array(await r.arrayBuffer());
}

serve(execute);

// execute runs a program and returns a report of its end.
async function execute({ wasm, prefix, book, settings, files, callbacks }) {
  const began = performance.now();
  const shelf = new Shelf(book);
  await shelf.open();
  for (const { path, url, size } of files) fs.lazy(ROOT + path, size, () => get(url));
  for (const [path, blob] of await shelf.all()) {
    if (blob) fs.lazy(ROOT + path, blob.size, async () => new Uint8Array(await blob.arrayBuffer()));
    else fs.files.delete(ROOT + path);
  }
  fs.cwd = fs.absolute(ROOT + settings.folder);
  fs.folder(fs.cwd);
  const changed = new Set(), keep = path => content(path).then(blob => shelf.put(path.slice(ROOT.length), blob));
  fs.changed = path => {
    if (!path.startsWith(ROOT)) return;
    changed.add(path);
    shelf.pending.add(keep(path));
  };
  fs.print = (descriptor, text) => tell({ stream: descriptor === 1 ? "stdout" : "stderr", text });
  const shown = new Set();
  let outputs = 0, size = 0;
  const display = json => {
    const output = JSON.parse(json);
    if (!output.id || !shown.has(output.id)) {
      if (outputs > MOST.outputs) return;
      if (++outputs > MOST.outputs || (size += json.length) > MOST.size) {
        outputs = MOST.outputs + 1;
        return tell({ stream: "stderr", text: `\n… further outputs omitted: a cell shows at most ${MOST.outputs}, of ${MOST.size / 1e6} million characters …\n` });
      }
    }
    if (output.id) shown.add(output.id);
    tell({ display: output, size: json.length });
  };
  globalThis.gokernel = { prefix, display };

  const go = new Go();
  go.argv = ["cell"];
  go.env = { TMPDIR: "/tmp", HOME: "/tmp", PWD: fs.cwd };
  let exit = 0;
  go.exit = code => { exit = code; };
  const { instance } = await WebAssembly.instantiate(wasm, go.importObject);
  const instantiate = Math.round(performance.now() - began);
  // A program that waits, but for no timer, file or function of JavaScript, waits for ever.
  const idle = setInterval(() => {
    if (callbacks || fs.loading || go._scheduledTimeouts.size) return;
    go._pendingEvent = { id: 0 }; // which nobody handles: Go prints the places
    go._resume();
  }, 500);
  try {
    await run(go, instance);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error("stack overflow: a function of this cell calls itself without end, or too deep for the page");
  } finally {
    clearInterval(idle);
  }
  const ran = Math.round(performance.now() - began) - instantiate;
  for (const { path, wrote } of fs.open_.values()) if (wrote) fs.changed(path);
  await shelf.settled();
  const wrote = [];
  for (const path of changed) {
    const name = path.slice(ROOT.length), blob = await content(path);
    await shelf.put(name, blob);
    if (blob) wrote.push([name, blob]);
  }
  if (wrote.length) tell({ wrote });
  return { exit, instantiate, run: ran, memory: instance.exports.mem.buffer.byteLength };
}

// content returns a file as it is now, null if it is not there.
async function content(path) {
  const f = fs.files.get(path);
  if (!f) return null;
  return new Blob([f.bytes ? fs.bytes(path) : await f.load()]);
}
