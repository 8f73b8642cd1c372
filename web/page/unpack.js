// Unpacks zstd, which browsers do not.
"use strict";
importScripts("files.js", "load.js", "wasm_exec.js");

let ready;
onmessage = async e => {
  const { url, packed, size, port } = e.data;
  if (url) {
    ready = fetch(url).then(async r => start(await WebAssembly.compile(await gunzip(await r.arrayBuffer()))));
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
