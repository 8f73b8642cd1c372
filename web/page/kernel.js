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

// perform runs a script in a new worker and promises its result, null if it is stopped. The page starts the worker, because
// Firefox on a busy machine may hang in a worker that starts another.
function perform(script, id, message, transfer, receive) {
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    const end = f => x => { postMessage({ dismiss: script }); port1.close(); working = null; f(x); };
    working = { id, stop: end(() => resolve(null)), fail: end(reject) };
    port1.onmessage = ({ data }) => {
      if ("end" in data) end(resolve)(data.end);
      else if ("fault" in data) end(reject)(new CellError(data.fault));
      else receive(data);
    };
    postMessage({ hire: script, message, port: port2, transfer }, [port2, ...transfer]);
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

// A fault of the compiler has the file's path before the cell. Of an undefined name it says what to do, as GoNB does here.
const tidy = text => text.replaceAll("/cell/", "").replace(/^# .*\n/gm, "").trimEnd().replace(/undefined: \w+$/gm,
  "$&; run the cells above that declare or import it (a name in a package begins with a capital letter)");

// build returns the program of a cell as WebAssembly, null if there is nothing to run. It
// throws the faults of the cell.
async function build({ id, label, source, book }, send, times) {
  const lap = name => { const now = performance.now(); times[name] = Math.round(now - times.at); times.at = now; };
  const p = gocell.program(label, source);
  lap("merge");
  if (p.error) throw new CellError(p.error);
  if (p.restore) await restore(book, send);
  if (p.text) send({ stream: "stdout", text: p.text });
  if (!p.source) { gocell.keep(); return null; }
  const linked = p.source.replace("\n", '\nimport _ "syscall/js"\n'); // with it, Go reports a deadlock and its places
  const object = await tool("compile", id, "exports", "/cell/main.go", new TextEncoder().encode(linked), "/cell/main.o",
    "-p", "main", "-complete", "-pack", "-C", "-dwarf=false", "-trimpath", "/cell=>");
  lap("compile");
  if (!object) return null;
  gocell.keep();
  if (!p.run) return null;
  times.callbacks = p.source.includes('"syscall/js"');
  const wasm = await tool("link", id, "objects", "/cell/main.o", object, "/cell/main.wasm", "-buildmode=exe", "-s", "-w");
  lap("link");
  if (wasm) times.size = wasm.length;
  return wasm;
}

// restore removes what the cells of a notebook have written, and names it.
async function restore(book, send) {
  const shelf = new Shelf(book);
  await shelf.open();
  const paths = (await shelf.all()).map(([path]) => path);
  await shelf.change(store => store.clear());
  shelf.db.close();
  send({ restored: paths });
  send({ stream: "stdout", text: paths.map(path => `restored: ${path}\n`).join("") || "no cell of this notebook has written a file\n" });
}

class CellError extends Error {}

// A Printer joins what a program prints, because the page draws the whole text of a cell
// again for each message. Of a text of more than twice HALF characters it omits the middle.
// Of the versions of an output that replace each other it shows the newest, as often as the page can draw it.
const HALF = 1 << 19;
class Printer {
  constructor(send) { Object.assign(this, { send, parts: [], tail: [], texts: 0, held: 0, drawn: 0, omitted: 0, timer: 0, last: 0 }); }
  print({ stream, text }) {
    const late = this.texts >= HALF, parts = late ? this.tail : this.parts, end = parts.at(-1);
    if (end?.stream === stream) end.text += text; else parts.push({ stream, text });
    if (late) return this.omit(text.length);
    this.texts += text.length;
    this.plan();
  }
  show({ display, size }) {
    const waiting = display.id && this.parts.find(p => p.display?.id === display.id);
    if (waiting) waiting.display = display; else this.parts.push({ display });
    this.drawn = size;
    this.plan();
  }
  plan() { // long texts and large outputs are drawn less often
    const wait = this.last + 50 + (this.texts + this.drawn) / 1000 - performance.now(); // ms
    if (wait <= 0) this.flush(); else this.timer ||= setTimeout(() => this.flush(), wait);
  }
  omit(more) {
    this.held += more;
    for (let over = this.held < 2 * HALF ? 0 : this.held - HALF; over > 0;) {
      const first = this.tail[0], n = Math.min(over, first.text.length);
      first.text = first.text.slice(n);
      if (!first.text) this.tail.shift();
      over -= n;
      this.held -= n;
      this.omitted += n;
    }
  }
  flush(ended) {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const part of this.parts) this.send(part);
    [this.parts, this.last] = [[], performance.now()];
    if (!ended) return; // the rest of a long text is shown at the end
    if (this.omitted) this.send({ stream: "stderr", text: `\n… ${this.omitted} characters omitted …\n` });
    for (const part of this.tail) this.send(part);
  }
}

async function execute(job) {
  const { id, book } = job;
  const send = d => { if (!interrupted.has(id)) postMessage({ id, ...d }); };
  const times = { at: performance.now() }, printer = new Printer(send);
  try {
    await ready;
    const wasm = interrupted.has(id) ? null : await build(job, send, times);
    if (!wasm || interrupted.has(id)) return send({ done: {}, times });
    const message = { wasm, prefix: `${settings.kernel}-${id}-`, book, settings, files: manifest.project, callbacks: times.callbacks };
    const tell = d => { if (d.stream) printer.print(d); else if (d.display) printer.show(d); else send(d); };
    const { exit, ...ran } = await perform("program.js", id, message, [wasm.buffer], tell) || { exit: null };
    printer.flush(true);
    send({ done: { exit }, times: { ...times, ...ran } });
  } catch (error) {
    printer.flush(true);
    send({ done: { fault: error instanceof CellError ? error.message : String(error.stack || error) }, times });
  }
}

// complete promises the exported names of the package before the cursor that begin with the word there.
async function complete({ code, cursor }) {
  await ready;
  const [, name, begin] = [...code].slice(0, cursor).join("").match(/(?<![\w.])(\w+)\.(\w*)$/) ?? [];
  const path = name && gocell.path(name), found = manifest.packages.find(p => p.path === path);
  postMessage({ matches: found ? found.exported.split(" ").filter(n => n.startsWith(begin)) : [], start: cursor - (begin ?? "").length });
}

let ready, queue = Promise.resolve();
onmessage = e => {
  const d = e.data;
  if (d.start) {
    settings = d.start;
    ready = boot();
    ready.then(times => postMessage({ ready: times }), error => postMessage({ failed: String(error.message || error) }));
  } else if (d.cursor !== undefined) {
    complete(d);
  } else if (d.broken) {
    if (working) working.fail(new CellError(d.broken));
  } else if (d.interrupt !== undefined) {
    interrupted.add(d.interrupt);
    if (working && working.id === d.interrupt) working.stop();
  } else {
    queue = queue.then(() => execute(d));
  }
};
