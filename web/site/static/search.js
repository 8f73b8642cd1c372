// A search for a number of the paper or an id of the ledger leads to its rows, which the index of words does not find.
"use strict";
(async () => {
  const query = new URLSearchParams(location.search).get("q")?.trim().toLowerCase().replace(/\s+/g, " ");
  if (!query) return;
  const rows = await (await fetch("_static/rows.json")).json();
  const found = rows.filter((r) => r.number.toLowerCase() === query || r.id === query);
  if (!found.length) return;
  const list = document.createElement("ul");
  list.id = "rows";
  for (const r of found) {
    const link = Object.assign(document.createElement("a"), { href: `ledger.html#${r.id}`, textContent: `${r.number}: ${r.title}` });
    list.appendChild(document.createElement("li")).append(link, " in the ledger");
  }
  document.getElementById("search-results").before(list);
})();
