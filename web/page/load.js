// Loads the files of the pack. Each is named by the hash of its unpacked bytes, and kept in the browser
// unpacked. A cell can write there, so a kept file is used only if it has its hash.
"use strict";
importScripts("files.js", "wasm_exec.js");

const STORE = "gokernel";
const PART = 1 << 22; // bytes that are hashed at once

serve(async manifest => {
  const pack = new Pack(manifest, (done, total) => tell({ progress: { done, total } }));
  return { blobs: await pack.load(), downloaded: pack.done };
});

// A Pack is the set of files in a manifest. progress(done, total) receives the bytes of the
// download.
class Pack {
  constructor(manifest, progress) {
    this.manifest = manifest;
    this.progress = progress;
    this.done = this.total = 0;
  }

  // load promises a Blob for each file of the manifest, by name. Of two kernels
  // that start at once one downloads.
  async load() {
    if (!globalThis.caches) return this.all(null); // no secure context: nothing can be kept
    const store = await caches.open(STORE);
    return navigator.locks.request(STORE, () => this.all(store));
  }

  async all(store) {
    const files = Object.entries(this.manifest.files);
    const kept = await Promise.all(files.map(async ([, f]) => {
      const blob = await (await store?.match(f.url))?.blob();
      return blob && await intact(blob, f.url) ? blob : null;
    }));
    files.forEach(([, f], i) => { if (!kept[i]) this.total += f.size; });
    const blobs = {};
    await Promise.all(files.map(async ([name, f], i) => {
      blobs[name] = kept[i] ?? await this.fetch(store, f);
    }));
    if (store) await this.forget(store, new Set(files.map(([, f]) => new URL(f.url, location).href)));
    return blobs;
  }

  // fetch downloads a file, unpacks it and keeps it.
  async fetch(store, f) {
    const response = await fetch(f.url);
    if (!response.ok) throw new Error(`${f.url}: ${response.status} ${response.statusText}`);
    const packed = new Uint8Array(f.size), reader = response.body.getReader();
    for (let at = 0; ;) {
      const { done, value } = await reader.read();
      if (done) {
        if (at !== f.size) throw new Error(`${f.url}: ${at} bytes, want ${f.size}`);
        break;
      }
      if (at + value.length > f.size) throw new Error(`${f.url}: more than ${f.size} bytes`);
      packed.set(value, at);
      at += value.length;
      this.done += value.length;
      this.progress(this.done, this.total);
    }
    const blob = new Blob([f.url.endsWith(".gz.bin") ? await gunzip(packed) : await this.unpack(packed, f.unpacked)]);
    if (!await intact(blob, f.url)) throw new Error(`${f.url}: its bytes have another hash than its name`);
    if (store) await store.put(f.url, new Response(blob)).catch(e => console.warn("gokernel: not kept:", f.url, e.message));
    return blob;
  }

  // unpack reads zstd, which browsers do not, with a program of Go. Its memory is free when this worker ends.
  async unpack(packed, size) {
    await (this.reader ||= fetch(this.manifest.files.cell.url).then(r => r.arrayBuffer()).then(gunzip).then(WebAssembly.compile).then(start));
    const bytes = new Uint8Array(size), error = gocell.unpack(packed, bytes);
    if (error) throw new Error(error);
    return bytes;
  }

  // forget removes the files of an earlier version of the site.
  async forget(store, wanted) {
    const here = new URL(".", location).href;
    for (const { url } of await store.keys()) if (url.startsWith(here) && !wanted.has(url)) await store.delete(url);
  }
}

// intact promises whether a file has the hash in its name, of digest in pack.py. Without a secure context nothing is kept or hashed.
async function intact(blob, url) {
  if (!globalThis.crypto?.subtle) return true;
  const sha = async bytes => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)), parts = [];
  for (let at = 0; at < blob.size; at += PART) parts.push(await sha(await blob.slice(at, at + PART).arrayBuffer()));
  const hash = await sha(await new Blob(parts).arrayBuffer());
  return url.includes(`-${Array.from(hash.subarray(0, 8), b => b.toString(16).padStart(2, "0")).join("")}.`);
}

function gunzip(bytes) {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
