// Makes parts of the page anew when objects that they show have changed.
//
// One stream serves all tabs of a browser, which has no more than six connections for them.
const tell = (kinds) => kinds.split(" ").filter(Boolean).forEach((kind) =>
  document.body.dispatchEvent(new CustomEvent(`changed-${kind}`)));

const mark = document.body.dataset.mark;
if (mark) {
  if (window.SharedWorker) {
    const worker = new SharedWorker("/static/live-worker.js");
    worker.port.onmessage = (event) => tell(event.data);
    worker.port.postMessage(mark);
  } else {
    const source = new EventSource(`/live?since=${encodeURIComponent(mark)}`);
    source.addEventListener("changed", (event) => tell(event.data));
  }
}

// The page that is shown, which a search has made another than the one that was loaded.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt.id === "content") {
    event.detail.path = location.pathname + location.search;
  }
});

// What the reader has opened or is typing stays as it is, and so does what a page says once.
document.addEventListener("DOMContentLoaded", () => {
  Idiomorph.defaults.ignoreActiveValue = true;
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(name === "open" && node.tagName === "DETAILS");
  Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) =>
    !(node instanceof Element && node.classList.contains("console-said"));
});
