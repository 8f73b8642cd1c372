// The ledger's filters: which rows are shown. They also read the address, as in ledger.html?verdict=refuted.
"use strict";
{
  const form = document.getElementById("filter");
  const rows = [...document.querySelectorAll(".facts[data-id]")];
  // Formulas as one types them, as plain_formulas makes them in pages.py.
  const plain = (text) => text.replace(/\\(mathrm|text|mathbb|mathcal|operatorname|left|right)|\\[,;!]/g, "").replace(/(\\[a-z]+)\{/g, "$1 ").replace(/[{},$\\]/g, "");
  const show = () => {
    const want = Object.fromEntries(new FormData(form));
    const find = want.find.trim().toLowerCase(), words = plain(find).split(/\s+/);
    const named = rows.some((row) => row.dataset.number === find); // "lemma 1" is not the beginning of "lemma 16"
    let shown = 0;
    for (const row of rows) {
      const fits = ["verdict", "kind", "defect", "section"].every((k) => !want[k] || row.dataset[k] === want[k]) &&
        (named ? row.dataset.number === find : words.every((w) => row.dataset.words.includes(w)));
      row.closest("section").hidden = !fits;
      shown += fits;
    }
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
