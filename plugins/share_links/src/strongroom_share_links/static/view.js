// The page of one file: arrows and swipes lead to the ones before and after, and Escape back to the folder.
"use strict";

(() => {
  const SWIPE = 50; // Pixels.
  const follow = (id) => {
    const link = document.getElementById(id);
    if (link) location.replace(link.href);
  };

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("pre, input")) return;
    follow({ArrowLeft: "previous", ArrowRight: "following", Escape: "back"}[event.key]);
  });

  // A finger that has moved mostly sideways, unless the page is enlarged.
  let start = null;
  document.addEventListener("touchstart", (event) => {
    const isEnlarged = visualViewport.scale > 1;
    start = event.touches.length === 1 && !isEnlarged ? event.touches[0] : null;
  }, {passive: true});
  document.addEventListener("touchend", (event) => {
    const [end] = event.changedTouches;
    const x = start ? end.clientX - start.clientX : 0, y = start ? end.clientY - start.clientY : 0;
    start = null;
    if (Math.abs(x) < SWIPE || Math.abs(x) < 2 * Math.abs(y)) return;
    follow(x < 0 ? "following" : "previous");
  }, {passive: true});
})();
