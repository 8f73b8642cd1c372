// Until the formulas of the first screen are typeset, the text around them is invisible, so that no reader sees it move.
"use strict";
{
  const { classList } = document.documentElement;
  const show = () => classList.remove("typesetting");
  classList.add("typesetting");
  setTimeout(show, 3000);
  const look = () => {
    const waiting = [...document.querySelectorAll("mjx-lazy")].some((e) => e.offsetParent && e.getBoundingClientRect().top < innerHeight);
    if (waiting) requestAnimationFrame(look); else show();
  };
  addEventListener("DOMContentLoaded", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(look, show));
}
