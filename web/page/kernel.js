// The worker of a kernel: it makes a program of each cell, compiles and links
// it, and runs it in a worker of its own.
"use strict";
importScripts("files.js", "wasm_exec.js");

let manifest, blobs, modules, settings, working = null;
const interrupted = new Set(); // jobs that are to be given up

async function boot() {
  const began = performance.now();
  manifest = await (await fetch("manifest.json", { cache: "no-cache" })).json();
  const pack = await perform("load.js", null, manifest, [], postMessage);
  blobs = pack.blobs;
  const names = ["compile", "link", "cell"];
  const compiled = await Promise.all(names.map(async n => WebAssembly.compileStreaming(
    new Response(blobs[n], { headers: { "Content-Type": "application/wasm" } }))));
  modules = Object.fromEntries(names.map((n, i) => [n, compiled[i]]));
  await start(modules.cell);
  const error = gocell.start(JSON.stringify(manifest.packages));
  if (error) throw new Error(error);
  return { boot: Math.round(performance.now() - began), downloaded: pack.downloaded };
}

// perform runs a script in a new worker and promises its result, null if it is stopped.
function perform(script, id, message, transfer, tell) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(script);
    const end = f => x => { worker.terminate(); working = null; f(x); };
    working = { id, stop: end(() => resolve(null)) };
    worker.onerror = e => { e.preventDefault(); end(reject)(new Error(e.message)); }; // else it ends this worker too
    worker.onmessage = ({ data }) => {
      if ("end" in data) end(resolve)(data.end);
      else if ("fault" in data) end(reject)(new Error(data.fault));
      else tell(data);
    };
    worker.postMessage(message, transfer);
  });
}

// tool promises the output of the compiler or the linker for one file, null if it is stopped.
async function tool(name, id, archives, input, bytes, output, ...args) {
  const message = {
    module: modules[name], name, args: [...args, input], input: { [input]: bytes }, output,
    archives: { members: manifest[archives], blob: blobs[archives] },
  };
  const r = await perform("tool.js", id, message, [bytes.buffer]);
  if (r && r.code) throw new CellError(tidy(r.text));
  return r && r.bytes;
}

// A fault of the compiler has the file's path before the cell.
const tidy = text => text.replaceAll("/cell/", "").replace(/^# .*\n/gm, "").trimEnd();

// build returns the program of a cell as WebAssembly, null if there is nothing to run. It
// throws the faults of the cell.
async function build(id, label, source, send, times) {
  const lap = name => { const now = performance.now(); times[name] = Math.round(now - times.at); times.at = now; };
  const p = gocell.program(label, source);
  lap("merge");
  if (p.error) throw new CellError(p.error);
  if (p.text) send({ stream: "stdout", text: p.text });
  if (!p.source) { gocell.keep(); return null; }
  const object = await tool("compile", id, "exports", "/cell/main.go", new TextEncoder().encode(p.source), "/cell/main.o",
    "-p", "main", "-complete", "-pack", "-C", "-dwarf=false", "-trimpath", "/cell=>");
  lap("compile");
  if (!object) return null;
  gocell.keep();
  if (!p.run) return null;
  const wasm = await tool("link", id, "objects", "/cell/main.o", object, "/cell/main.wasm", "-buildmode=exe", "-s", "-w");
  lap("link");
  if (wasm) times.size = wasm.length;
  return wasm;
}

class CellError extends Error {}

async function execute({ id, label, source }) {
  const send = d => { if (!interrupted.has(id)) postMessage({ id, ...d }); };
  const times = { at: performance.now() };
  try {
    await ready;
    const wasm = interrupted.has(id) ? null : await build(id, label, source, send, times);
    if (!wasm || interrupted.has(id)) return send({ done: {}, times });
    const message = { wasm, prefix: `${settings.kernel}-${id}-`, settings, files: manifest.project };
    const { exit, ...ran } = await perform("program.js", id, message, [wasm.buffer], send) || { exit: null };
    send({ done: { exit }, times: { ...times, ...ran } });
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
    if (working && working.id === d.interrupt) working.stop();
  } else {
    queue = queue.then(() => execute(d));
  }
};
