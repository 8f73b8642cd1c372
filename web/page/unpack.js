// Unpacks zstd, which browsers do not.
"use strict";
importScripts("files.js", "wasm_exec.js");

let ready;
onmessage = async e => {
  const { url, packed, size, port } = e.data;
  if (url) {
    const unzipped = async r => new Response(r.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    ready = fetch(url).then(unzipped).then(WebAssembly.compile).then(start);
    return;
  }
  try {
    await ready;
    const bytes = new Uint8Array(size);
    const error = gocell.unpack(packed, bytes);
    port.postMessage(error ? { error } : { bytes }, error ? [] : [bytes.buffer]);
  } catch (error) {
    port.postMessage({ error: String(error) });
  }
};
