// Deletes all data that the notebooks of this site have stored in the browser.
"use strict";
{
  const lab = new URL("../lab/", document.currentScript.src);
  const status = document.getElementById("reset-status");

  const remove = (name) => new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = resolve;
    request.onerror = () => reject(request.error);
    request.onblocked = () => { status.textContent = "Close the tabs in which notebooks are open."; };
  });

  document.getElementById("reset").onclick = async () => {
    if (!confirm("Forget your changes to the notebooks, the files that cells have written, and the compiler?")) return;
    const names = (await indexedDB.databases()).map((d) => d.name).filter((n) => n.includes(` ${lab.pathname}`));
    await Promise.all(names.map(remove));
    if (globalThis.caches) { // not there without https
      const store = await caches.open("gokernel");
      for (const request of await store.keys()) if (request.url.startsWith(lab)) await store.delete(request);
    }
    status.textContent = "Done.";
  };
}
