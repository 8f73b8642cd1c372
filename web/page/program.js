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
    const written = new Promise((resolve, reject) => { t.oncomplete = resolve; t.onerror = t.onabort = () => reject(t.error); });
    this.pending.add(written);
  }
  async settled() { for (const w of this.pending) await w; }
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

onmessage = async e => {
  const { wasm, prefix, settings, files } = e.data, began = performance.now();
  const shelf = new Shelf(`gokernel ${new URL(".", location).pathname}`);
  await shelf.open();
  for (const { path, url, size } of files) fs.lazy(ROOT + path, size, () => get(url));
  for (const [path, blob] of await shelf.all()) {
    if (blob) fs.lazy(ROOT + path, blob.size, async () => new Uint8Array(await blob.arrayBuffer()));
    else fs.files.delete(ROOT + path);
  }
  fs.cwd = fs.absolute(ROOT + settings.folder);
  fs.folder(fs.cwd);
  const wrote = new Set();
  fs.changed = path => {
    if (!path.startsWith(ROOT)) return;
    const name = path.slice(ROOT.length), f = fs.files.get(path);
    wrote.add(name);
    if (f && !f.bytes) f.load().then(b => shelf.put(name, new Blob([b])));
    else shelf.put(name, f ? new Blob([fs.bytes(path)]) : null);
  };
  fs.print = (descriptor, text) => postMessage({ stream: descriptor === 1 ? "stdout" : "stderr", text });
  globalThis.gokernel = { prefix, display: json => postMessage({ display: JSON.parse(json) }) };

  const go = new Go();
  go.argv = ["cell"];
  go.env = { TMPDIR: "/tmp", HOME: "/tmp", PWD: fs.cwd, ...settings.env };
  let exit = 0;
  go.exit = code => { exit = code; };
  const { instance } = await WebAssembly.instantiate(wasm, go.importObject);
  const instantiate = Math.round(performance.now() - began);
  await go.run(instance);
  await shelf.settled();
  const kept = [...wrote].filter(name => fs.files.has(ROOT + name)).map(name => [name, new Blob([fs.bytes(ROOT + name)])]);
  if (kept.length) postMessage({ wrote: kept });
  postMessage({ exit, instantiate, run: Math.round(performance.now() - began) - instantiate, memory: instance.exports.mem.buffer.byteLength });
};
