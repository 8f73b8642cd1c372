// Runs the compiler or the linker once, in a separate worker, whose end frees the memory at
// once.
"use strict";
importScripts("files.js", "wasm_exec.js");

serve(tool);

// tool promises the exit code, the printed text, and the output file, null if there is none.
async function tool({ module, name, args, archives, input, output }) {
  mount(archives);
  fs.folder("/cell");
  fs.cwd = "/cell";
  for (const [path, bytes] of Object.entries(input)) fs.put(path, bytes);
  fs.closed = file => { if (file.load) file.bytes = null; }; // an archive is read once
  let text = "", code = 0;
  fs.print = (descriptor, s) => { text += s; };
  const go = new Go();
  go.argv = [name, "-importcfg", "/archives.cfg", "-o", output, ...args];
  go.env = { TMPDIR: "/tmp", HOME: "/", GOGC: "400", GOMEMLIMIT: "160MiB" }; // fast, and small
  go.exit = c => { code = c; };
  await run(go, await WebAssembly.instantiate(module, go.importObject));
  return { code, text, bytes: fs.files.has(output) ? fs.bytes(output).slice() : null };
}

// mount makes the archives of packages, which a blob holds one after another, files,
// and writes the file that tells a tool where they are.
function mount({ members, blob }) {
  let at = 0, list = "";
  for (const { path, size } of members) {
    const begin = at;
    fs.lazy(`/archives/${path}.a`, size, async () => new Uint8Array(await blob.slice(begin, begin + size).arrayBuffer()));
    list += `packagefile ${path}=/archives/${path}.a\n`;
    at += size;
  }
  fs.put("/archives.cfg", new TextEncoder().encode(list));
}
