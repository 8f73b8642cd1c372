// The filters of the ledger, and what a search finds beside the index of words: places by their number, as in "Lemma 16",
// "lem. 16" or "§4.2", ids of the ledger, and pages by the decimal numbers in them.
"use strict";
{
  // normal returns a text as one types it, with one form for TeX, signs, Greek letters and short names.
  const short = { lem: "lemma", thm: "theorem", def: "definition", cor: "corollary", alg: "algorithm", eq: "equation", eqn: "equation",
    fig: "figure", sec: "section", app: "appendix", ass: "assumption", constr: "construction", prop: "proposition" };
  const numbered = new RegExp(`\\b(${[...Object.keys(short), ...Object.values(short)].join("|")})\\.?\\s*\\(?(?=[a-z]?\\d|[a-z]\\b)`, "g");
  const greek = [..."αβγδεζηθικλμνξοπρστυφχψω"], names = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega".split(" ");
  const normal = (text) => text.toLowerCase().replace(/\\(mathrm|text|mathbb|mathcal|operatorname|left|right)|\\[,;!]/g, "")
    .replace(/(\\[a-z]+)\{/g, "$1 ").replace(/[{},$\\]/g, "").replace(/[α-ωϵϕ]/g, (c) => names[greek.indexOf({ ϵ: "ε", ϕ: "φ", ς: "σ" }[c] ?? c)])
    .replace(/chi(²|-squared)/g, "chi^2").replace(/§/g, "section ").replace(numbered, (_, word) => `${short[word] ?? word} `).replace(/\s+/g, " ").trim();
  const named = (number, find) => normal(number).replace(/[()]/g, "") === find.replace(/[()]/g, "");

  const form = document.getElementById("filter");
  if (form) filter(form); else search(new URLSearchParams(location.search).get("q") ?? "");

  // filter shows the rows of the ledger that fit the form, which the address begins with, as in ledger.html?verdict=refuted.
  // A verdict in Find is a filter too.
  function filter(form) {
    const rows = [...document.querySelectorAll(".facts[data-id]")], texts = rows.map((row) => normal(row.dataset.words));
    const verdicts = ["not tested", "tested", "proved", "refuted", "open"];
    const show = () => {
      const want = Object.fromEntries(new FormData(form));
      const find = normal(want.find), verdict = verdicts.find((v) => ` ${find} `.includes(` ${v} `));
      const words = (verdict ? ` ${find} `.replace(` ${verdict} `, " ") : find).trim().split(" ");
      const number = rows.some((row) => named(row.dataset.number, find)); // "lemma 1" is not the beginning of "lemma 16"
      let shown = 0;
      rows.forEach((row, i) => {
        const fits = ["verdict", "kind", "defect", "section"].every((k) => !want[k] || row.dataset[k] === want[k]) &&
          (number ? named(row.dataset.number, find) : (!verdict || row.dataset.verdict === verdict) && words.every((w) => texts[i].includes(w)));
        row.closest("section").hidden = !fits;
        shown += fits;
      });
      for (const part of new Set(rows.map((row) => row.closest("section").parentElement))) {
        part.hidden = ![...part.children].some((s) => s.matches("section") && !s.hidden);
      }
      document.getElementById("none").hidden = shown > 0;
      const set = new URLSearchParams(Object.entries(want).filter(([, v]) => v)).toString();
      history.replaceState(null, "", location.pathname + (set && `?${set}`) + location.hash);
      form.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
    };
    for (const [k, v] of new URLSearchParams(location.search)) if (form.elements[k]) form.elements[k].value = v;
    form.addEventListener("input", show);
    form.addEventListener("submit", (e) => e.preventDefault());
    // A link to a row leads to it, also where the filters hide it.
    const reveal = () => {
      const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (target && target.closest("section[hidden]")) { form.reset(); show(); target.scrollIntoView(); }
    };
    // The details of a row, half of the page, are added to the page when they are unfolded.
    const unfold = (row) => {
      const details = row.querySelector(":scope > template");
      if (!details) return;
      details.replaceWith(details.content);
      MathJax.typesetPromise?.([row]);
    };
    document.addEventListener("toggle", ({ target }) => unfold(target), true);
    addEventListener("hashchange", reveal);
    addEventListener("beforeprint", () => {
      for (const details of document.querySelectorAll("section:not([hidden]) > details")) {
        if (!details.textContent.trim().startsWith("Witness")) continue;
        details.open = true;
        unfold(details);
      }
    });
    show();
    reveal();
  }

  async function search(query) {
    const get = async (name) => (await fetch(`_static/${name}.json`)).json(), find = normal(query);
    const numbers = query.replace(/−/g, "-").match(/\d+\.\d+/g) ?? [];
    const found = find ? (await get("rows")).filter((r) => r.id === find || named(r.number, find) || normal(r.number).startsWith(`${find}.`)) : [];
    if (numbers.length && !found.length) {
      const { pages, places } = await get("numbers"), all = numbers.map((n) => new Set(places[n]));
      found.push(...pages.filter((_, i) => all.every((p) => p.has(i))));
    }
    if (!find) return;
    found.push({ title: "rows with these words", at: `ledger.html?find=${encodeURIComponent(query)}`, id: "find" });
    const list = document.createElement("ul");
    list.id = "rows";
    for (const r of found) {
      const link = Object.assign(document.createElement("a"), { href: r.at, textContent: (r.number ? `${r.number}: ` : "") + r.title });
      list.appendChild(document.createElement("li")).append(link, r.id ? " in the ledger" : "");
    }
    document.getElementById("search-results").before(list);
  }
}
