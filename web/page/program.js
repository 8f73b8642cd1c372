// Runs the program of one cell. What it writes below the project's folder stays
// in the browser's storage.
"use strict";
importScripts("files.js", "wasm_exec.js");

const ROOT = "/project/";

// A Shelf keeps written files: a Blob by path, or null for one that was removed.
class Shelf {
  constructor(name) { this.name = name; this.pending = new Set(); }
  async open() {
    const request = indexedDB.open(this.name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("files");
    this.db = await promised(request);
  }
  async all() {
    const store = this.db.transaction("files").objectStore("files");
    const [paths, blobs] = await Promise.all([promised(store.getAllKeys()), promised(store.getAll())]);
    return paths.map((path, i) => [path, blobs[i]]);
  }
  put(path, blob) {
    const t = this.db.transaction("files", "readwrite");
    t.objectStore("files").put(blob, path);
    return new Promise((resolve, reject) => { t.oncomplete = resolve; t.onerror = t.onabort = () => reject(t.error); });
  }
  settled() { return Promise.all(this.pending); }
}
const promised = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

async function get(url) {
  const r = await fetch(url);
  if (!r.ok) throw new Error(`${url}: ${r.status}`);
  return new Uint8Array(await r.arrayBuffer());
}

serve(execute);

// execute runs a program and returns a report of its end.
async function execute({ wasm, prefix, settings, files, callbacks }) {
  const began = performance.now();
  const shelf = new Shelf(`gokernel ${new URL(".", location).pathname}`);
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
  globalThis.gokernel = { prefix, display: json => tell({ display: JSON.parse(json) }) };

  const go = new Go();
  go.argv = ["cell"];
  go.env = { TMPDIR: "/tmp", HOME: "/tmp", PWD: fs.cwd, ...settings.env };
  let exit = 0;
  go.exit = code => { exit = code; };
  const { instance, module } = await WebAssembly.instantiate(wasm, go.importObject);
  const handles = WebAssembly.Module.imports(module).some(i => i.name.startsWith("syscall/js"));
  const instantiate = Math.round(performance.now() - began);
  // A program that waits, but for no timer, file or function of JavaScript, waits for ever.
  let idle;
  const stuck = new Promise((_, reject) => {
    idle = setInterval(() => {
      if (callbacks || fs.loading || go._scheduledTimeouts.size) return;
      if (!handles) return reject(new Error("all goroutines are asleep: deadlock"));
      go._pendingEvent = { id: 0 }; // which nobody handles: Go prints the places
      go._resume();
    }, 500);
  });
  try {
    await Promise.race([go.run(instance), stuck]);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error("stack overflow: a function of this cell calls itself without end, or too deep for the page");
  } finally {
    clearInterval(idle);
  }
  go._scheduledTimeouts.forEach(t => clearTimeout(t)); // one that fires after the end is an error of this worker
  const run = Math.round(performance.now() - began) - instantiate;
  await shelf.settled();
  const wrote = [];
  for (const path of changed) {
    const name = path.slice(ROOT.length), blob = await content(path);
    await shelf.put(name, blob);
    if (blob) wrote.push([name, blob]);
  }
  if (wrote.length) tell({ wrote });
  return { exit, instantiate, run, memory: instance.exports.mem.buffer.byteLength };
}

// content returns a file as it is now, null if it is not there.
async function content(path) {
  const f = fs.files.get(path);
  if (!f) return null;
  return new Blob([f.bytes ? fs.bytes(path) : await f.load()]);
}
