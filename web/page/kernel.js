// The worker of a kernel: it makes a program of each cell, compiles and links
// it, and runs it in a worker of its own.
"use strict";
importScripts("files.js", "load.js", "wasm_exec.js");

let manifest, modules, settings, program = null;
const interrupted = new Set(); // jobs that are to be given up

async function boot() {
  const began = performance.now();
  manifest = await (await fetch("manifest.json", { cache: "no-cache" })).json();
  const pack = new Pack(manifest, (done, total) => postMessage({ progress: { done, total } }));
  const blobs = await pack.load();
  const names = ["compile", "link", "cell"];
  const compiled = await Promise.all(names.map(async n => WebAssembly.compileStreaming(
    new Response(blobs[n], { headers: { "Content-Type": "application/wasm" } }))));
  modules = Object.fromEntries(names.map((n, i) => [n, compiled[i]]));
  mount("/exports", manifest.exports, blobs.exports);
  mount("/objects", manifest.objects, blobs.objects);
  fs.folder("/cell");
  await start(modules.cell);
  const error = gocell.start(JSON.stringify(manifest.packages));
  if (error) throw new Error(error);
  return { boot: Math.round(performance.now() - began), downloaded: pack.done };
}

// mount makes the archives of packages, which a blob holds one after another,
// files of a folder, and writes the file that tells a tool where they are.
function mount(folder, members, blob) {
  let at = 0, list = "";
  for (const { path, size } of members) {
    const begin = at;
    fs.lazy(`${folder}/${path}.a`, size, async () => new Uint8Array(await blob.slice(begin, begin + size).arrayBuffer()));
    list += `packagefile ${path}=${folder}/${path}.a\n`;
    at += size;
  }
  fs.put(folder + ".cfg", new TextEncoder().encode(list));
}

// tool runs the compiler or the linker on files, and returns what it prints.
async function tool(name, ...args) {
  let text = "", code = 0;
  fs.print = (descriptor, s) => { text += s; };
  const go = new Go();
  go.argv = [name, ...args];
  go.env = { TMPDIR: "/tmp", HOME: "/", GOGC: "400", GOMEMLIMIT: "160MiB" }; // fast, and small
  go.exit = c => { code = c; };
  await go.run(await WebAssembly.instantiate(modules[name], go.importObject));
  go._scheduledTimeouts.forEach(t => clearTimeout(t)); // one that fires after the end is an error of this worker
  return { code, text };
}

// A fault of the compiler has the file's path before the cell.
const tidy = text => text.replaceAll("/cell/", "").replace(/^# .*\n/gm, "").trimEnd();

// build returns the program of a cell as WebAssembly, null if there is nothing
// to run. It throws what is wrong with the cell.
async function build(label, source, send, times) {
  const lap = name => { const now = performance.now(); times[name] = Math.round(now - times.at); times.at = now; };
  const p = gocell.program(label, source);
  lap("merge");
  if (p.error) throw new CellError(p.error);
  if (p.text) send({ stream: "stdout", text: p.text });
  if (!p.source) { gocell.keep(); return null; }
  fs.cwd = "/cell";
  fs.put("/cell/main.go", new TextEncoder().encode(p.source));
  let r = await tool("compile", "-o", "/cell/main.o", "-p", "main", "-complete", "-pack", "-C", "-dwarf=false", "-trimpath", "/cell=>",
    "-importcfg", "/exports.cfg", "/cell/main.go");
  lap("compile");
  if (r.code) throw new CellError(tidy(r.text));
  gocell.keep();
  if (!p.run) return null;
  r = await tool("link", "-o", "/cell/main.wasm", "-importcfg", "/objects.cfg", "-buildmode=exe", "-s", "-w", "/cell/main.o");
  lap("link");
  if (r.code) throw new CellError(tidy(r.text));
  const wasm = fs.bytes("/cell/main.wasm").slice();
  fs.files.delete("/cell/main.wasm");
  times.size = wasm.length;
  return wasm;
}

class CellError extends Error {}

// run runs a program and promises its exit code, null if it is interrupted.
function run(id, wasm, send) {
  return new Promise((resolve, reject) => {
    const worker = new Worker("program.js");
    const end = f => x => { worker.terminate(); program = null; f(x); };
    program = { id, stop: end(() => resolve({ exit: null })) };
    worker.onerror = e => { e.preventDefault(); end(reject)(new Error(e.message)); }; // else it ends this worker too
    worker.onmessage = e => { if ("exit" in e.data) end(resolve)(e.data); else send(e.data); };
    worker.postMessage({ wasm, prefix: `${settings.kernel}-${id}-`, settings, files: manifest.project }, [wasm.buffer]);
  });
}

async function execute({ id, label, source }) {
  const send = d => { if (!interrupted.has(id)) postMessage({ id, ...d }); };
  const times = { at: performance.now() };
  try {
    await ready;
    const wasm = interrupted.has(id) ? null : await build(label, source, send, times);
    if (!wasm || interrupted.has(id)) return send({ done: {}, times });
    const end = await run(id, wasm, send);
    send({ done: { exit: end.exit }, times: { ...times, instantiate: end.instantiate, run: end.run, memory: end.memory } });
  } catch (error) {
    send({ done: { fault: error instanceof CellError ? error.message : String(error.stack || error) }, times });
  }
}

let ready, queue = Promise.resolve();
onmessage = e => {
  const d = e.data;
  if (d.start) {
    settings = d.start;
    ready = boot();
    ready.then(times => postMessage({ ready: times }), error => postMessage({ failed: String(error.message || error) }));
  } else if (d.interrupt !== undefined) {
    interrupted.add(d.interrupt);
    if (program && program.id === d.interrupt) program.stop();
  } else {
    queue = queue.then(() => execute(d));
  }
};
