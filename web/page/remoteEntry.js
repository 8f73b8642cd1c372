// The extension of JupyterLite: a kernel that compiles and runs Go in the page.
// It is a container of module federation, written by hand, which uses the modules that
// JupyterLite shares.
"use strict";
(() => {
  const base = new URL(".", document.currentScript.src).href, lite = new URL("../../../", base);
  let scope;
  const shared = async name => {
    const versions = Object.values(scope[name] || {});
    if (!versions.length) throw new Error(`gokernel: this JupyterLite does not share ${name}`);
    return (await versions[0].get())();
  };

  // A notice in the corner shows the progress of the download and the remaining time.
  const notice = {
    show(done, total) {
      const now = performance.now();
      if (!this.box) {
        this.box = document.createElement("div");
        this.box.id = "gokernel-notice";
        this.box.setAttribute("role", "status");
        this.box.style.cssText = "position:fixed;right:1em;bottom:2.5em;z-index:10000;padding:.6em 1em;border-radius:4px;" +
          "background:var(--jp-layout-color1,#fff);color:var(--jp-ui-font-color1,#000);" +
          "border:1px solid var(--jp-border-color1,#999);font:14px sans-serif";
        document.body.append(this.box);
        this.began = now;
      }
      const MB = n => (n / 1e6).toFixed(1), left = Math.ceil((now - this.began) / 1000 * (total - done) / Math.max(done, 1));
      this.box.innerHTML = done >= total ? "Go compiler: preparing" : `Go compiler: ${MB(done)} of ${MB(total)} MB` + (done && now - this.began > 500 ? `, ${left} s to go` : "") +
        `<br><progress ${done < total ? `value="${done}" max="${total}"` : ""} style="width:100%"></progress>`;
    },
    hide() { if (this.box) this.box.remove(); this.box = null; },
  };

  // entitle names the tab after its notebook, and again when JupyterLite names it after itself.
  // JupyterLab, whose tab has several notebooks, has no path in its address.
  const entitle = () => {
    const book = new URLSearchParams(location.search).get("path");
    if (!book) return;
    const name = book.slice(book.lastIndexOf("/") + 1).replace(".ipynb", "");
    const set = () => { if (document.title !== name) document.title = name; };
    new MutationObserver(set).observe(document.head, { subtree: true, childList: true });
    set();
  };

  // follow leads links of a notebook to files that JupyterLite has not to pages
  // beside it.
  const follow = links => {
    const files = new URL("files/", lite).href;
    document.addEventListener("click", e => {
      const [url, anchor] = e.target.closest?.("a[href]")?.href.split("#") ?? [""];
      const path = url.startsWith(files) ? url.slice(files.length) : "";
      const page = links[path] ?? (path.endsWith(".ipynb") ? null : links["*"]?.replace("*", path));
      if (!path || !page) return;
      e.preventDefault();
      e.stopImmediatePropagation();
      open(new URL(page, lite) + (anchor ? "#" + anchor : ""));
    }, true);
  };

  const plugins = async () => {
    if (!scope["@jupyterlite/services"]) return []; // JupyterLab with a server
    const { BaseKernel, IKernelSpecs, IKernelClient } = await shared("@jupyterlite/services");
    const settings = fetch(base + "settings.json", { cache: "no-cache" }).then(r => r.json());
    const kernels = new Map();

    class GoKernel extends BaseKernel {
      constructor(options, contents, book) {
        super(options);
        this.contents = contents;
        this.book = book;
        this.jobs = new Map(); // the callback of each job, by number
        this.count = 0;
        this.shown = new Set(); // ids of outputs
        const path = options.location.replace(/^[^/]*:/, "");
        const folder = path.endsWith(".ipynb") ? path.slice(0, path.lastIndexOf("/") + 1) : path;
        this.worker = new Worker(base + "kernel.js");
        this.worker.onmessage = e => this.receive(e.data);
        this.worker.onerror = e => this.fail(e.message || "the worker of the kernel does not start");
        this.worker.postMessage({ start: { kernel: options.id.slice(0, 8), folder } });
        kernels.set(options.id, this);
      }

      receive(d) {
        if (d.progress) return notice.show(d.progress.done, d.progress.total);
        if (d.ready) {
          notice.hide();
          performance.mark("gokernel ready", { detail: d.ready });
          return;
        }
        if (d.hire) return this.hire(d);
        if (d.dismiss) return this.hired.terminate();
        if (d.failed) return this.fail(d.failed);
        if (d.matches) return this.completed(d);
        if (d.wrote) this.show(d.wrote);
        for (const path of d.restored ?? []) this.contents.delete(path).catch(() => {}); // one of the site comes back
        const job = this.jobs.get(d.id);
        if (!job) return;
        if (d.stream) this.stream({ name: d.stream, text: d.text }, job.header);
        if (d.display) this.display(d.display, job.header);
        if (d.done) this.end(d.id, d.done, d.times);
      }

      // hire starts a worker for the kernel's, which it reaches by a port.
      hire({ hire, message, port, transfer }) {
        const worker = this.hired = new Worker(base + hire);
        worker.onerror = e => { e.preventDefault(); if (worker === this.hired) this.worker.postMessage({ broken: e.message || `${hire} does not start` }); };
        worker.postMessage({ message, port }, [port, ...transfer]);
      }

      display({ id, data, metadata }, header) {
        const content = { data, metadata: metadata || {}, transient: id ? { display_id: id } : {} };
        if (this.shown.has(id)) this.updateDisplayData(content, header); else this.displayData(content, header);
        if (id) this.shown.add(id);
      }

      // end answers the request of a job.
      end(id, { exit = 0, fault }, times) {
        const job = this.jobs.get(id);
        this.jobs.delete(id);
        performance.mark("gokernel cell", { detail: times });
        const ended = { status: "ok", execution_count: this.executionCount, user_expressions: {} };
        if (!exit && !fault) return job.resolve(ended);
        const text = fault || `exit status ${exit}`;
        const content = { ename: fault ? "fault" : "exit", evalue: text, traceback: [text] };
        this.publishExecuteError(content, job.header);
        // JupyterLite drops the cells behind any error: Run All goes on behind a cell with the tag raises-exception.
        job.resolve(job.stop ?? true ? { ...ended, ...content, status: "error" } : ended);
      }

      fail(text) {
        notice.hide();
        this.broken = `The Go kernel does not start: ${text}. Restarting it, or loading the page again, may help.`;
        for (const id of [...this.jobs.keys()]) this.end(id, { fault: this.broken });
      }

      // interrupt ends the running cell at once. Its program is stopped, and a
      // compiler that is at work is not waited for.
      interrupt() {
        for (const id of [...this.jobs.keys()]) {
          this.worker.postMessage({ interrupt: id });
          this.end(id, { fault: "interrupted" });
        }
      }

      // show makes files that a program has written files of JupyterLite, to be
      // seen and downloaded.
      async show(files) {
        for (const [path, blob] of files) {
          const parts = path.split("/");
          for (let i = 1; i < parts.length; i++) {
            const folder = parts.slice(0, i).join("/");
            await this.contents.save(folder, { type: "directory", name: parts[i - 1], path: folder, format: "json", content: null });
          }
          const bytes = new Uint8Array(await blob.arrayBuffer());
          let text = "";
          for (let i = 0; i < bytes.length; i += 1 << 15) text += String.fromCharCode(...bytes.subarray(i, i + (1 << 15)));
          await this.contents.save(path, { type: "file", format: "base64", name: parts.at(-1), path, content: btoa(text) });
        }
      }

      async kernelInfoRequest() {
        return {
          status: "ok", protocol_version: "5.3", implementation: "gokernel", implementation_version: "1", banner: "Go, in the page", help_links: [],
          language_info: { name: "go", version: "", mimetype: "text/x-go", file_extension: ".go", pygments_lexer: "go", codemirror_mode: "go" },
        };
      }
      executeRequest({ code, stop_on_error: stop }) {
        return new Promise(resolve => {
          const id = ++this.count;
          this.jobs.set(id, { resolve, stop, header: this.parentHeader });
          if (this.broken) return this.end(id, { fault: this.broken });
          this.worker.postMessage({ id, label: `cell[${this.executionCount}]`, source: code, book: this.book() });
        });
      }
      async completeRequest({ code, cursor_pos: cursor }) {
        const { matches, start } = await new Promise(resolve => {
          this.completed = resolve; // an earlier request is out of date
          this.worker.postMessage({ code, cursor });
        });
        return { status: "ok", matches, cursor_start: start, cursor_end: cursor, metadata: {} };
      }
      async inspectRequest() { return { status: "ok", found: false, data: {}, metadata: {} }; }
      async isCompleteRequest() { return { status: "unknown" }; }
      async commInfoRequest() { return { status: "ok", comms: {} }; }
      inputReply() {}
      async commOpen() {}
      async commMsg() {}
      async commClose() {}

      dispose() {
        if (this.isDisposed) return;
        this.worker.terminate();
        this.hired?.terminate();
        kernels.delete(this.id);
        super.dispose();
      }
    }

    return [{
      // A notebook that comes from elsewhere may say that its stored outputs are trusted, and JupyterLite
      // believes it. Here a script runs only in the output of a cell that the reader has run, and an output loads nothing
      // from other hosts.
      id: "gokernel:trust",
      autoStart: true,
      activate: ({ serviceManager: { contents } }) => {
        document.head.append(Object.assign(document.createElement("meta"), {
          httpEquiv: "Content-Security-Policy", content: "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:",
        }));
        const get = contents.get.bind(contents);
        contents.get = async (...args) => {
          const model = await get(...args);
          for (const { metadata } of model.content?.cells ?? []) delete metadata?.trusted;
          return model;
        };
      },
    }, {
      // A reader's copy of a notebook has the version of the site's that it came from. Of another one the reader is told, once.
      id: "gokernel:versions",
      autoStart: true,
      activate: ({ serviceManager: { contents } }) => {
        const get = contents.get.bind(contents), told = new Map();
        const tell = async (path, newest) => {
          await fetch(new URL(`files/${path}`, lite), { cache: "reload" }); // what the browser has kept may be older
          const mine = await get(path, { content: true });
          if (mine.content.metadata.gokernel === newest) return;
          const { showDialog, Dialog } = await shared("@jupyterlab/apputils");
          const { button } = await showDialog({
            title: "There is a newer version of this notebook",
            body: "It is not the one that you have changed. If you look at it, yours stays beside it, as a copy.",
            buttons: [Dialog.cancelButton({ label: "Keep mine" }), Dialog.okButton({ label: "Show the newer one" })],
          });
          mine.content.metadata.gokernel = newest;
          if (!button.accept) return contents.save(path, mine);
          await contents.copy(path, path.slice(0, path.lastIndexOf("/")));
          await contents.delete(path);
        };
        contents.get = async (path, ...args) => {
          const model = await get(path, ...args), newest = (await settings).versions[path];
          if (!newest || !model.content?.cells || model.content.metadata.gokernel === newest) return model;
          told.set(path, told.get(path) ?? tell(path, newest));
          await told.get(path);
          return get(path, ...args);
        };
      },
    }, {
      id: "gokernel:kernel",
      autoStart: true,
      requires: [IKernelSpecs, IKernelClient],
      activate: async (app, specs, client) => {
        const { name, links } = await settings;
        follow(links);
        entitle();
        // A run is saved when it begins and when it ends. Saves follow one another: JupyterLab takes one of two at a time
        // for a change by somebody else.
        let saved = Promise.resolve();
        const widget = fits => [...app.shell.widgets("main")].find(fits);
        const save = (_, { notebook }) => { saved = saved.then(() => widget(w => w.content === notebook)?.context.save()).catch(() => {}); };
        const { NotebookActions } = await shared("@jupyterlab/notebook");
        NotebookActions.executionScheduled.connect(save);
        NotebookActions.executed.connect(save);
        // JupyterLite drops the cells that wait and does not tell the kernel.
        const drop = client.interrupt.bind(client);
        client.interrupt = async id => {
          await drop(id);
          const kernel = kernels.get(id);
          if (kernel) kernel.interrupt();
        };
        specs.register({
          spec: { name, display_name: "Go", language: "go", argv: [], resources: {} },
          create: async options => {
            // The path of the notebook, or of the folder of a console. JupyterLite gives a kernel the folder alone.
            const book = () => widget(w => w.sessionContext?.session?.kernel?.id === options.id)?.context?.path ?? options.location;
            return new GoKernel(options, app.serviceManager.contents, book);
          },
        });
      },
    }];
  };

  (globalThis._JUPYTERLAB ||= {}).gokernel = {
    init(s) { scope = s; },
    async get(name) {
      if (name !== "./extension") throw new Error(`gokernel: no module ${name}`);
      const list = await plugins();
      return () => ({ __esModule: true, default: list });
    },
  };
})();
