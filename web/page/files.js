// What workers share: a file system in memory, with the functions that wasm_exec.js
// expects of node's fs, whose files can be lazy, read when they are opened; the browser's
// storage of written files; and how a worker runs a program, and does a piece of work.
"use strict";

class Files {
  constructor() {
    this.constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
    this.files = new Map(); // path: { bytes, size, load, time }
    this.folders = new Set(["/", "/tmp"]);
    this.open_ = new Map(); // descriptor: { path, file, at, wrote }
    this.next = 3;
    this.loading = 0; // number of files under way
    this.cwd = "/";
    this.print = (descriptor, text) => {};
    this.changed = path => {}; // a file was written, renamed or removed
    this.closed = file => {};
    this.text = { 1: new TextDecoder(), 2: new TextDecoder() };
    for (const name of ["chmod", "chown", "fchmod", "fchown", "lchown", "utimes", "fsync"]) this[name] = (...args) => args.at(-1)(null);
    for (const name of ["link", "symlink", "readlink"]) this[name] = (...args) => args.at(-1)(fault("ENOSYS"));
  }

  // put adds a file with these bytes, lazy one whose bytes load() promises.
  put(path, bytes) { this.add(path, { bytes, size: bytes.length, time: 0 }); }
  lazy(path, size, load) { this.add(path, { bytes: null, size, load, time: 0 }); }
  add(path, file) { this.files.set(path, file); this.folder(parent(path)); }
  folder(path) { for (; !this.folders.has(path); path = parent(path)) this.folders.add(path); }
  bytes(path) { const f = this.files.get(path); return f.bytes.subarray(0, f.size); }

  absolute(path) {
    const parts = [];
    for (const p of (path[0] === "/" ? path : this.cwd + "/" + path).split("/")) {
      if (p === "..") parts.pop();
      else if (p && p !== ".") parts.push(p);
    }
    return "/" + parts.join("/");
  }

  status(file) {
    const ms = file ? file.time : 0;
    return {
      dev: 1, ino: 1, mode: file ? 0o100644 : 0o40755, nlink: 1, uid: 0, gid: 0, rdev: 0, size: file ? file.size : 0,
      blksize: 4096, blocks: 0, atimeMs: ms, mtimeMs: ms, ctimeMs: ms, isDirectory: () => !file,
    };
  }
  stat(path, done) {
    path = this.absolute(path);
    const file = this.files.get(path);
    if (file || this.folders.has(path)) done(null, this.status(file)); else done(fault("ENOENT"));
  }
  lstat(path, done) { this.stat(path, done); }
  fstat(descriptor, done) {
    const o = this.open_.get(descriptor);
    if (o) done(null, this.status(o.file)); else done(null, this.status({ size: 0, time: 0 }));
  }

  open(path, flags, mode, done) {
    path = this.absolute(path);
    const c = this.constants;
    let file = this.files.get(path);
    if (!file && this.folders.has(path)) return done(null, this.descriptor({ path, file: null, at: 0 }));
    if (flags & c.O_DIRECTORY) return done(fault(file ? "ENOTDIR" : "ENOENT"));
    if (file && flags & c.O_CREAT && flags & c.O_EXCL) return done(fault("EEXIST"));
    const create = !file, empty = create || flags & c.O_TRUNC;
    if (create) {
      if (!(flags & c.O_CREAT) || !this.folders.has(parent(path))) return done(fault("ENOENT"));
      file = {};
      this.files.set(path, file);
    }
    if (empty) Object.assign(file, { bytes: new Uint8Array(4096), size: 0, time: Date.now() });
    const opened = () => done(null, this.descriptor({ path, file, at: flags & c.O_APPEND ? file.size : 0, wrote: !!empty }));
    if (file.bytes) return opened();
    this.loading++;
    file.load().then(bytes => { this.loading--; file.bytes = bytes; file.size = bytes.length; opened(); },
      () => { this.loading--; done(fault("EIO")); });
  }
  descriptor(o) { this.open_.set(this.next, o); return this.next++; }
  close(descriptor, done) {
    const o = this.open_.get(descriptor);
    this.open_.delete(descriptor);
    if (o && o.wrote) this.changed(o.path);
    if (o && o.file) this.closed(o.file);
    done(null);
  }

  read(descriptor, buffer, offset, length, position, done) {
    const o = this.open_.get(descriptor);
    if (descriptor === 0) this.print(2, "standard input is empty in the page: write the value into the cell\n");
    if (!o || !o.file) return done(null, 0);
    const at = position === null ? o.at : position, n = Math.max(0, Math.min(length, o.file.size - at));
    buffer.set(o.file.bytes.subarray(at, at + n), offset);
    if (position === null) o.at += n;
    done(null, n);
  }
  write(descriptor, buffer, offset, length, position, done) {
    const part = buffer.subarray(offset, offset + length);
    if (descriptor === 1 || descriptor === 2) {
      this.print(descriptor, this.text[descriptor].decode(part, { stream: true }));
      return done(null, length);
    }
    const o = this.open_.get(descriptor);
    if (!o || !o.file) return done(fault("EBADF"));
    const at = position === null ? o.at : position;
    this.resize(o.file, Math.max(o.file.size, at + length));
    o.file.bytes.set(part, at);
    o.wrote = true;
    if (position === null) o.at += length;
    done(null, length);
  }
  writeSync(descriptor, buffer) { this.write(descriptor, buffer, 0, buffer.length, null, () => {}); return buffer.length; }
  resize(file, size) {
    if (size > file.bytes.length) {
      const bytes = new Uint8Array(Math.max(2 * file.bytes.length, size));
      bytes.set(file.bytes.subarray(0, file.size));
      file.bytes = bytes;
    } else if (size > file.size) file.bytes.fill(0, file.size, size);
    file.size = size;
    file.time = Date.now();
  }
  ftruncate(descriptor, size, done) {
    const o = this.open_.get(descriptor);
    if (!o || !o.file) return done(fault("EBADF"));
    this.resize(o.file, size);
    o.wrote = true;
    done(null);
  }
  truncate(path, size, done) {
    this.open(path, 0, 0, (err, d) => err ? done(err) : this.ftruncate(d, size, e => this.close(d, () => done(e))));
  }

  mkdir(path, mode, done) {
    path = this.absolute(path);
    if (this.folders.has(path) || this.files.has(path)) return done(fault("EEXIST"));
    if (!this.folders.has(parent(path))) return done(fault("ENOENT"));
    this.folders.add(path);
    done(null);
  }
  readdir(path, done) {
    path = this.absolute(path);
    if (!this.folders.has(path)) return done(fault("ENOENT"));
    const names = [];
    for (const p of [...this.files.keys(), ...this.folders]) if (p !== "/" && parent(p) === path) names.push(p.slice(p.lastIndexOf("/") + 1));
    done(null, names.sort());
  }
  rename(from, to, done) {
    from = this.absolute(from); to = this.absolute(to);
    const move = (a, b) => { this.files.set(b, this.files.get(a)); this.files.delete(a); this.changed(a); this.changed(b); };
    if (this.files.has(from)) { move(from, to); return done(null); }
    if (!this.folders.delete(from)) return done(fault("ENOENT"));
    this.folder(to);
    for (const p of [...this.files.keys()]) if (p.startsWith(from + "/")) move(p, to + p.slice(from.length));
    for (const p of [...this.folders]) if (p.startsWith(from + "/")) { this.folders.delete(p); this.folder(to + p.slice(from.length)); }
    done(null);
  }
  unlink(path, done) {
    path = this.absolute(path);
    if (!this.files.delete(path)) return done(fault(this.folders.has(path) ? "EISDIR" : "ENOENT"));
    this.changed(path);
    done(null);
  }
  rmdir(path, done) {
    path = this.absolute(path);
    if (!this.folders.has(path)) return done(fault(this.files.has(path) ? "ENOTDIR" : "ENOENT"));
    for (const p of [...this.files.keys(), ...this.folders]) if (p !== path && parent(p) === path) return done(fault("ENOTEMPTY"));
    this.folders.delete(path);
    done(null);
  }
}

function parent(path) { return path.slice(0, path.lastIndexOf("/")) || "/"; }
function fault(code) { return Object.assign(new Error(code), { code }); }

// A Shelf keeps the files that the cells of a notebook have written: a Blob by path, or null for one that was removed.
class Shelf {
  constructor(book) { this.name = `gokernel ${new URL(".", location).pathname} ${book}`; this.pending = new Set(); }
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
  change(work) {
    const t = this.db.transaction("files", "readwrite");
    work(t.objectStore("files"));
    return new Promise((resolve, reject) => { t.oncomplete = resolve; t.onerror = t.onabort = () => reject(t.error); });
  }
  put(path, blob) { return this.change(store => store.put(blob, path)); }
  settled() { return Promise.all(this.pending); }
}
const promised = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

// wasm_exec.js takes these from the global object. It hears an answer after the call: an answer inside it would run other
// goroutines there, and perhaps the end of the program.
globalThis.fs = new Files();
for (const name of ("open close read write stat lstat fstat mkdir readdir rename unlink rmdir truncate ftruncate " +
    "chmod chown fchmod fchown lchown utimes fsync link symlink readlink").split(" ")) {
  const work = fs[name];
  fs[name] = (...args) => { const done = args.pop(); work.call(fs, ...args, (...answer) => queueMicrotask(() => done(...answer))); };
}
globalThis.process = {
  cwd: () => fs.cwd, chdir(path) { fs.cwd = fs.absolute(path); }, pid: 1, ppid: 0, umask: () => 0o22,
  getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [],
};
globalThis.path = { resolve: (...parts) => fs.absolute(parts.join("/")) };

// start runs a Go program that goes on for ever, for the functions that it
// gives to JavaScript.
async function start(module) {
  const go = new Go();
  go.run(await WebAssembly.instantiate(module, go.importObject));
}

// run runs a Go program to its end, or until it fails. What comes later is ignored.
function run(go, instance) {
  const resume = go._resume;
  return new Promise((end, fail) => {
    const broken = error => { if (go.exited) end(); else fail(error); go.exited = true; };
    go._resume = () => { if (!go.exited) try { resume.call(go); } catch (error) { broken(error); } };
    go.run(instance).then(end, broken);
  }).finally(() => go._scheduledTimeouts.forEach(t => clearTimeout(t)));
}

// serve runs work on the message to this worker, and tells the kernel its result or error, by the port that comes with it.
let tell;
function serve(work) {
  onmessage = ({ data: { message, port } }) => {
    tell = d => port.postMessage(d);
    work(message).then(end => tell({ end }), error => tell({ fault: String(error.message || error) }));
  };
}
