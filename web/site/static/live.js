// Statements checked, and graphs trained on, in the reader's browser: the page's part and the worker's.
// The worker runs the project's own Go, compiled to WebAssembly, and is ended by Stop.
"use strict";

if (typeof document === "undefined") {
  importScripts("wasm_exec.js");
  self.post = (name, text) => postMessage({ name, answer: JSON.parse(text) });
  onmessage = async ({ data }) => {
    self.order = JSON.stringify(data.order);
    try {
      const go = new Go();
      await go.run(await WebAssembly.instantiate(data.module, go.importObject));
      postMessage({ name: "end" });
    } catch (e) {
      postMessage({ name: "error", answer: String(e) });
    }
  };
} else {
  const here = new URL(".", document.currentScript.src);

  // once returns a function that does its work on the first call, and again if that failed.
  const once = (work) => { let kept; return () => (kept ??= work().catch((e) => { kept = null; throw e; })); };

  const get = async (url) => {
    const r = await fetch(url);
    if (!r.ok) throw new Error(`${url}: ${r.status} ${r.statusText}`);
    return r;
  };
  const engine = once(async () => {
    let bytes = new Uint8Array(await (await get(new URL("engine.wasm.gz", here))).arrayBuffer());
    if (bytes[0] === 0x1f) { // a server may have unpacked it on the way
      bytes = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    }
    return WebAssembly.compile(bytes);
  });
  const stored = once(async () => (await get(new URL("../figures/claims.json", here))).text());

  // start runs an order in a new worker. It calls answered(name, answer) for each answer, and ended at the end in
  // any case. It returns a function that stops the worker at once.
  const start = (order, answered, ended) => {
    let worker, over = false;
    const end = () => { if (!over) { over = true; worker?.terminate(); ended(); } };
    const fail = (e) => { if (!over) { answered("error", String(e.message ?? e)); end(); } };
    (async () => {
      const [module, todo] = await Promise.all([engine(), order()]);
      if (over) return;
      worker = new Worker(new URL("live.js", here));
      worker.onerror = fail;
      worker.onmessage = ({ data: { name, answer } }) => name === "end" ? end() : name === "error" ? fail(answer) : answered(name, answer);
      worker.postMessage({ module, order: todo });
    })().catch(fail);
    return end;
  };

  const make = (tag, attributes = {}, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) k in e ? (e[k] = v) : e.setAttribute(k, v);
    e.append(...children);
    return e;
  };
  const digits = (x) => String(Number(x.toPrecision(6))).replace("-", "−");

  // --- statements ---

  // showCheck fills a box with the result of a check and the stored result.
  const showCheck = (box, { Here, Stored, Differs }) => {
    const parts = { Verdict: (r) => r.Verdict, "Left side": (r) => digits(r.LHS), "Right side": (r) => digits(r.RHS),
      Margin: (r) => digits(r.Margin), Instances: (r) => r.Instances };
    const table = make("table", {}, make("tr", {}, ...["", "here", "stored"].map((t) => make("th", { textContent: t }))),
      ...Object.entries(parts).map(([name, of]) => make("tr", {},
        ...[name, of(Here), of(Stored)].map((t) => make("td", { textContent: t })))));
    const same = Here.Verdict === Stored.Verdict;
    const said = !same ? "The verdict differs from the stored one." : Differs.length ? "The verdict is the stored one." : "Equal to the stored row in every part.";
    const rest = same && Differs.length ? [make("p", { textContent: `Other parts differ: ${Differs.join(", ")}. `
      + "A search in floats may take another course on another kind of machine; exact witnesses do not." })] : [];
    const layout = (r, where) => make("pre", { textContent: `${r.HasWitness ? "Witness" : "Worst instance"}, ${where}\n\n${r.Layout}` });
    const layouts = Here.Layout === Stored.Layout ? [layout(Here, "here as stored")] : [layout(Here, "here"), layout(Stored, "stored")];
    box.replaceChildren(make("p", { className: same ? "equal" : "differs", textContent: said }), ...rest, table, ...layouts);
  };

  for (const facts of document.querySelectorAll(".facts[data-id]")) {
    const label = facts.dataset.slow ? "Run (takes longer)" : "Run";
    const button = make("button", { type: "button", textContent: label, className: "run", "aria-label": `${label} the check of ${facts.dataset.id}` });
    const box = make("div", { className: "result", "aria-live": "polite" });
    facts.append(button);
    let stop = null;
    button.onclick = () => {
      if (stop) return stop();
      (facts.parentElement.querySelector(".more") ?? facts).before(box);
      const bar = make("p", {}, make("progress"), " ", make("span", { textContent: "loading the program, 3 MB" }));
      box.replaceChildren(bar);
      const since = performance.now();
      const clock = setInterval(() => { bar.lastChild.textContent = `${Math.round((performance.now() - since) / 1000)} s`; }, 1000);
      button.textContent = "Stop";
      stop = start(async () => ({ check: facts.dataset.id, stored: await stored() }),
        (name, answer) => name === "checked" ? showCheck(box, answer) : box.replaceChildren(make("p", { className: "differs", textContent: answer })),
        () => {
          clearInterval(clock);
          stop = null;
          button.textContent = label;
          if (bar.isConnected) box.replaceChildren(make("p", { textContent: "Stopped." }));
        });
    };
  }

  // --- the film of a run, on the start page ---

  const box = document.getElementById("film");
  if (box) get(new URL("film.json", here)).then((r) => r.json()).then((film) => showFilm(box, film), (e) => box.replaceChildren(String(e)));

  function showFilm(box, film) {
    const wide = 54, n = film.Parents.length, last = film.Steps.length - 1, at = (i) => (i + .5) * wide;
    let x = film.X, shown = x, { Frames: frames } = film, k = matchMedia("(prefers-reduced-motion: reduce)").matches ? last : 0, timer = 0, working;
    const letter = (s) => make("span", { className: `letter l${s}`, textContent: "abc"[s] });

    // An arc leads from a position to an earlier one, above the letters or below.
    const arc = (i, j, high, name = "") => `<path class="${name}" d="M${at(i)} ${high > 0 ? 74 : 1}c0 ${-high} ${at(j) - at(i)} ${-high} ${at(j) - at(i)} 0"/>`;
    const high = (i, j) => 18 + 14 * (i - j);
    const pairs = film.Parents.flatMap((_, i) => [...Array(i).keys()].map((j) => [i, j]));
    const parents = film.Parents.flatMap((p, i) => (p < 0 ? [] : [arc(i, p, high(i, p), "hidden-edge")]));
    const drawing = make("div", { className: "arcs" });
    drawing.innerHTML = `<svg width="${n * wide}" height="76" aria-hidden="true">${parents.join("")}${pairs.map(([i, j]) => arc(i, j, high(i, j), "first")).join("")}</svg>
      <div class="nodes"></div><svg width="${n * wide}" height="76" aria-hidden="true">${[...Array(n - 1).keys()].map((j) => arc(n - 1, j, -high(n - 1, j), "second")).join("")}</svg>`;
    const [firsts, seconds] = [".first", ".second"].map((s) => [...drawing.querySelectorAll(s)]);

    const letters = x.map((_, i) => make("button", { type: "button", onclick: () => { x = x.with(i, (x[i] + 1) % film.States); pause(); run(); } }));
    drawing.querySelector(".nodes").append(...letters);
    const heads = ["first", "second"].map((name) => make("button", { type: "button", className: `head ${name}-head`, onclick: (e) => {
      e.target.setAttribute("aria-pressed", e.target.ariaPressed !== "true");
      k = last;
      pause();
    } }));
    heads.forEach((b) => b.setAttribute("aria-pressed", "true"));
    const guess = make("div", { className: "guess" });
    const slider = make("input", { type: "range", min: 0, max: last, "aria-label": "step of the training", oninput: () => { k = Number(slider.value); pause(); } });
    const play = make("button", { type: "button", className: "run", onclick: () => { if (timer) return pause(); k = k === last ? 0 : k; go(); } });
    const step = make("output"), status = make("span", { role: "status" });
    box.replaceChildren(make("div", {}, heads[0], drawing, heads[1]), make("div", {}, guess, status), make("p", { className: "steps" }, play, slider, step));

    // draw shows the frame at a step: attention as the width of arcs.
    const draw = () => {
      const off = heads.reduce((sum, b, h) => sum + (b.ariaPressed === "true" ? 0 : 1 << h), 0), { First, Second, F } = frames[off][k];
      const show = (path, a) => { path.style.opacity = a < .02 ? 0 : .15 + .85 * a; path.style.strokeWidth = 5 * a; };
      pairs.forEach(([i, j], p) => show(firsts[p], First[i][j]));
      seconds.forEach((path, j) => show(path, Second[j]));
      heads.forEach((b, h) => { b.textContent = `${h ? "Second" : "First"} head: ${off >> h & 1 ? "off" : "on"}`; });
      drawing.classList.toggle("no-first", off & 1);
      drawing.classList.toggle("no-second", off & 2);
      letters.forEach((b, i) => {
        b.replaceChildren(letter(x[i]));
        b.setAttribute("aria-label", `position ${i + 1}${i === n - 1 ? ", the query" : ""}: ${"abc"[x[i]]}; change it`);
      });
      guess.replaceChildren(make("p", {}, "After ", letter(x[n - 1]), " it expects"),
        ...F.map((f, s) => make("div", {}, letter(s), make("i", { style: `width: ${(7 * f).toFixed(2)}em` }), `${Math.round(100 * f)} %`)),
        make("p", { textContent: `Mean loss ${film.Losses[off][k].toFixed(2)} nats on 512 test sequences; a uniform guess has ${Math.log(film.States).toFixed(2)}.` }));
      [slider.value, step.textContent, play.textContent] = [k, `step ${film.Steps[k]}`, timer ? "Pause" : "Play"];
    };
    const pause = () => { clearTimeout(timer); timer = 0; draw(); };
    const go = () => {
      timer = setTimeout(() => { if (!document.hidden) k = k === last ? 0 : k + 1; go(); }, k === last ? 4000 : 350);
      draw();
    };
    // run asks the program for the frames of the reader's sequence.
    const run = () => {
      working?.();
      k = last;
      status.textContent = "loading the program, 3 MB";
      let told = "";
      working = start(async () => ({ film, x }), (name, answer) => { if (name === "frames") [frames, shown] = [answer, x]; else [told, x] = [answer, shown]; },
        () => { working = null; status.textContent = told; draw(); });
      draw();
    };
    if (k < last) go(); else draw();
  }

  // --- a graph of the reader's own ---

  const form = document.getElementById("own-graph");
  if (form) ownGraph(form);

  function ownGraph(form) {
    const most = Number(form.elements.positions.max);
    const at = (name) => form.querySelector(`[data-part="${name}"]`);
    const field = form.elements;
    let parents = [0, 1, 1, 2, 3, 0]; // of positions 1, 2, ...; 0 for a root
    let names = null; // of the positions in the text, or null for s1, s2, ...
    let typed = false; // the text is the reader's
    let chosen = 0, stop = null, references = [];
    let shown = null; // the graph whose run is shown
    let trained = []; // its parents
    let reading = null, pause; // stops the reading of the text; its delay

    const nodeName = (i) => names ? names[i] : `s${i + 1}`;
    const quoted = (name) => (names ? `"${name.replaceAll('"', '\\"')}"` : name);
    const dot = () => `digraph { ${names ? `query=${quoted(names.at(-1))}; ` : ""}${parents.map((p, i) =>
      (p ? `${quoted(nodeName(p - 1))} -> ` : "") + quoted(nodeName(i))).join("; ")} }`;
    const settings = () => ({ dot: field.dot.value, states: Number(field.states.value), prior: field.prior.value,
      steps: Number(field.steps.value), seed: Number(field.seed.value) });
    const tell = (text) => { at("status").textContent = text; };
    const others = ["states", "prior", "steps", "seed"];

    const keep = () => {
      const q = new URLSearchParams(typed || names ? { dot: field.dot.value } : { graph: parents.join(".") });
      for (const n of others) q.set(n, field[n].value);
      history.replaceState(null, "", location.pathname + "#" + q);
    };
    // read sets the graph and the settings of the address. It keeps an address with a fault, and tells the fault.
    const read = () => {
      const q = new URLSearchParams(location.hash.slice(1) || location.search), faults = [];
      for (const n of others.filter((n) => q.has(n))) {
        const before = field[n].value;
        field[n].value = q.get(n);
        if (field[n].value === q.get(n) && field[n].checkValidity()) continue;
        field[n].value = before;
        faults.push(`${n}=${q.get(n)}: ${n} stays ${before}`);
      }
      if (q.has("dot")) {
        [typed, field.dot.value] = [true, q.get("dot")];
      } else if (q.has("graph")) {
        const text = q.get("graph"), list = text.split(".").map(Number);
        const right = /^\d+(\.\d+)+$/.test(text) && list.length <= most && list.every((p, i) => p <= i) && list.at(-1) === 0;
        if (right) [parents, names, typed] = [list, null, false];
        else faults.push(`graph=${text}: want a list like 0.1.1.2.3.0, the parent of each position or 0, at most ${most} positions`);
      }
      const address = location.href;
      if (q.has("dot")) readText();
      else draw();
      if (faults.length) {
        history.replaceState(null, "", address);
        tell(`Not understood in the address: ${faults.join("; ")}.`);
      }
    };
    // readText draws the graph of the text, and tells a fault in place of a drawing.
    const readText = () => {
      reading?.();
      tell("reading the graph");
      reading = start(async () => ({ read: field.dot.value }), (name, answer) => {
        if (name === "graph") {
          [parents, names, chosen] = [answer.Parents.map((p) => p + 1), answer.Names, 0];
          tell("");
          draw();
        } else {
          tell(answer);
          if (stop) return;
          shown = "";
          for (const part of ["arcs", "nodes", "loss", "ending"]) at(part).replaceChildren();
          at("attention").width = 0;
          form.querySelector("details").open = true;
        }
      }, () => { reading = null; });
    };

    // draw shows the graph as buttons in a row under arcs.
    const draw = () => {
      const wide = Math.min(150, Math.max(46, ...(names ?? []).map((n) => 18 + 8 * n.length))), high = 14 + 9 * Math.max(1, ...parents.map((p, i) => (p ? i + 1 - p : 0)));
      const arcs = parents.flatMap((p, i) => p ? [`<path d="M${(p - .5) * wide} ${high}C${(p - .5) * wide} ${high - 12 * (i + 1 - p)} ${(i + .5) * wide} ${high - 12 * (i + 1 - p)} ${(i + .5) * wide} ${high - 2}" marker-end="url(#tip)"/>`] : []);
      at("arcs").innerHTML = `<svg width="${wide * parents.length}" height="${high}" aria-hidden="true"><defs><marker id="tip" markerWidth="7" markerHeight="7" refX="5" refY="3" orient="auto"><path d="M0 0L6 3L0 6z"/></marker></defs>${arcs.join("")}</svg>`;
      at("nodes").replaceChildren(...parents.map((p, i) => {
        const query = i === parents.length - 1;
        const b = make("button", { type: "button", className: query ? "query" : "", title: nodeName(i),
          "aria-label": `${nodeName(i)}${query ? ", the query" : p ? `, caused by ${nodeName(p - 1)}` : ", a root"}` });
        if (names) [b.textContent, b.style.width] = [names[i], `${wide - 6}px`];
        else b.innerHTML = `s<sub>${i + 1}</sub>`;
        b.setAttribute("aria-pressed", String(chosen === i + 1));
        b.onclick = () => { choose(i + 1); at("nodes").children[Math.min(i, parents.length - 1)].focus(); };
        return b;
      }));
      if (!typed) field.dot.value = dot();
      if (document.activeElement !== field.positions) field.positions.value = parents.length;
      if (!stop && shown !== parents.join()) drawBeginning();
      at("hint").textContent = chosen ? `Now the child of ${nodeName(chosen - 1)}: a later position, not the query. Again ${nodeName(chosen - 1)} to let go.`
        : "Click a parent, then its child. The same again takes the arrow away.";
      keep();
    };
    const choose = (i) => {
      if (!chosen || i <= chosen || i === parents.length) {
        chosen = chosen === i || i === parents.length ? 0 : i;
      } else {
        parents[i - 1] = parents[i - 1] === chosen ? 0 : chosen;
        chosen = 0;
        typed = false;
      }
      draw();
    };
    field.positions.oninput = () => {
      const n = Number(field.positions.value);
      if (!Number.isInteger(n) || n < 3 || n > most || n === parents.length) return;
      parents = Array.from({ length: n }, (_, i) => (i === n - 1 ? 0 : parents[i] ?? 0));
      [chosen, typed, names] = [0, false, null];
      tell("");
      draw();
    };
    field.dot.oninput = () => { typed = true; keep(); clearTimeout(pause); pause = setTimeout(readText, 500); };
    for (const n of others) field[n].onchange = () => { keep(); if (!stop && !shown) drawBeginning(); };
    addEventListener("hashchange", read);

    const shade = (x) => { // from white to purple, as in package figure
      const c = [[255, 255, 255], [216, 218, 235], [178, 171, 210], [128, 115, 172], [84, 39, 136], [45, 0, 75]], k = Math.min(4, Math.floor(5 * x)), t = 5 * x - k;
      return `rgb(${c[k].map((v, j) => Math.round(v + t * (c[k + 1][j] - v)))})`;
    };
    const drawAttention = (rows, parents) => {
      const canvas = at("attention"), n = rows.length, cell = Math.floor(300 / n), g = canvas.getContext("2d");
      canvas.width = canvas.height = cell * n;
      rows.forEach((row, i) => row.slice(0, i + 1).forEach((a, j) => {
        g.fillStyle = shade(Math.min(1, Math.max(0, a)));
        g.fillRect(j * cell, i * cell, cell, cell);
        if (parents[i] === j + 1) { g.strokeStyle = "#ff4d4d"; g.lineWidth = 2; g.strokeRect(j * cell + 1, i * cell + 1, cell - 2, cell - 2); }
      }));
    };
    // drawBeginning shows the state before the first step: weights are zero, so attention is uniform.
    const drawBeginning = () => {
      shown = null;
      references = [{ Name: "uniform guess", Loss: Math.log(Math.max(2, settings().states)) }];
      drawAttention(parents.map((_, i) => Array(i + 1).fill(1 / (i + 1))), parents);
      drawLoss([], settings().steps);
      at("ending").replaceChildren();
    };
    const drawLoss = (curve, steps) => {
      const all = [...curve.map((p) => p.Loss), ...references.map((r) => r.Loss)];
      const top = Math.max(...all) * 1.04, low = curve.length ? Math.max(0, Math.min(...all) * .9) : 0, w = 420, h = 260, left = 40;
      const x = (s) => left + (s / steps) * (w - left - 4), y = (l) => 6 + ((top - l) / (top - low)) * (h - 30);
      const lines = references.map((r) => `<path class="reference" d="M${left} ${y(r.Loss)}H${w}"/><text x="${w - 4}" y="${y(r.Loss) + (y(r.Loss) > h - 50 ? -4 : 12)}" text-anchor="end">${r.Name} ${r.Loss.toFixed(3)}</text>`);
      if (!curve.length) lines.push(`<text x="${(left + w) / 2}" y="${h / 2}" text-anchor="middle">Train draws the test loss here</text>`);
      const line = curve.map((p, i) => `${i ? "L" : "M"}${x(p.Step).toFixed(1)} ${y(p.Loss).toFixed(1)}`).join("");
      at("loss").innerHTML = `<svg viewBox="0 0 ${w} ${h}" role="img" aria-label="Test loss against the step"><path d="M${left} 0V${h - 24}H${w}"/>${lines.join("")}
        <path class="curve" d="${line}"/>
        <text x="${left - 4}" y="12" text-anchor="end">${top.toFixed(2)}</text><text x="${left - 4}" y="${h - 26}" text-anchor="end">${low.toFixed(2)}</text>
        <text x="${left}" y="${h - 8}">0</text><text x="${w}" y="${h - 8}" text-anchor="end">${steps} steps</text></svg>`;
    };
    const drawEnding = (e) => {
      const lines = [["trained model", e.Model, null], ...e.References.map((r) => [r.Name, r.Loss, r.ModelLess])];
      const shown = (v) => (v ? `${v.Mean.toFixed(4)} ± ${v.StdErr.toFixed(4)}`.replace("-", "−") : "");
      at("ending").replaceChildren(make("p", { textContent: `${e.Given ? `${e.Found} of ${e.Given} edges learned, ${e.Others} others; mean attention on the parents ${e.AttentionOnTheirParent.toFixed(3)}` : `No edges to find, ${e.Others} learned`}. Losses on ${e.Sequences} test sequences:` }),
        make("table", {}, make("tr", {}, ...["Predictor", "Loss", "Model less this one"].map((t) => make("th", { textContent: t }))),
          ...lines.map(([name, a, b]) => make("tr", {}, ...[name, shown(a), shown(b)].map((t) => make("td", { textContent: t }))))));
    };

    form.onsubmit = (event) => {
      event.preventDefault();
      if (stop) return stop();
      reading?.();
      clearTimeout(pause);
      const bar = at("progress"), status = at("status");
      at("ending").replaceChildren();
      [bar.hidden, status.textContent, field.go.textContent] = [false, "loading the program, 3 MB", "Stop"];
      bar.removeAttribute("value");
      field.go.formNoValidate = true; // Stop
      let since, finished = false;
      stop = start(async () => ({ train: settings() }), (name, answer) => {
        if (name === "outlook") {
          [parents, names] = [answer.Parents.map((p) => p + 1), answer.Names];
          [trained, chosen, references, since, shown] = [parents, 0, answer.References, performance.now(), parents.join()];
          draw();
        } else if (name === "look") {
          drawAttention(answer.Attention, trained);
          drawLoss(answer.Curve, answer.Steps);
          const go = ((performance.now() - since) / answer.Step) * (answer.Steps - answer.Step) / 1000;
          [bar.value, status.textContent] = [answer.Step / answer.Steps, `step ${answer.Step} of ${answer.Steps}, loss ${answer.Curve.at(-1).Loss.toFixed(3)}, ${Math.ceil(go)} s to go`];
        } else if (name === "share") {
          [bar.value, status.textContent] = [answer, "comparing with the Bayes predictor"];
        } else if (name === "ending") {
          finished = true;
          drawEnding(answer);
          status.textContent = "Done.";
        } else {
          finished = true;
          status.textContent = answer;
        }
      }, () => {
        [stop, bar.hidden, field.go.textContent, field.go.formNoValidate] = [null, true, "Train", false];
        if (!finished) status.textContent = "Stopped.";
      });
    };
    read();
  }
}
