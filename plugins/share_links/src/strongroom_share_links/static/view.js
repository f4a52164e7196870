// The keys of the page of one file: arrows lead to the ones before and after, and Escape back to the folder.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("pre, input")) return;
  const id = {ArrowLeft: "previous", ArrowRight: "following", Escape: "back"}[event.key];
  const link = id && document.getElementById(id);
  if (link) location.replace(link.href);
});
