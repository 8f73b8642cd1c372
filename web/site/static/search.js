// A search for a number of the paper, as in "Lemma 16", "lem. 16" or "§4.2", or for an id of the ledger leads to its
// places, which the index of words does not find.
"use strict";
(async () => {
  const query = new URLSearchParams(location.search).get("q")?.trim().toLowerCase().replace(/\s+/g, " ");
  if (!query) return;
  const words = { lem: "lemma", thm: "theorem", def: "definition", cor: "corollary", alg: "algorithm", eq: "equation", eqn: "equation",
    fig: "figure", sec: "section", app: "appendix", ass: "assumption", constr: "construction" };
  const name = (text) => text.toLowerCase().replace(/§/g, "section ").replace(/[()]/g, "").replace(/([a-z])\.?\s*(?=\d)/g, "$1 ")
    .replace(/^([a-z]+)\.?(?= )/, (_, w) => words[w] ?? w);
  const rows = await (await fetch("_static/rows.json")).json();
  const found = rows.filter((r) => r.id === query || name(r.number) === name(query) || name(r.number).startsWith(`${name(query)}.`));
  if (!found.length) return;
  const list = document.createElement("ul");
  list.id = "rows";
  for (const r of found) {
    const link = Object.assign(document.createElement("a"), { href: r.at, textContent: `${r.number}: ${r.title}` });
    list.appendChild(document.createElement("li")).append(link, r.id ? " in the ledger" : "");
  }
  document.getElementById("search-results").before(list);
})();
