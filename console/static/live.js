// Makes parts of the page anew when objects that they show have changed, and says where it may be old.
//
// One stream serves all tabs of a browser, which has no more than six connections for them. Where
// tabs cannot share a worker, each has its own.
const WORKER = "/static/live-worker.js";
const ANSWER_MILLISECONDS = 5000; // the worker answers at once, if it runs
const SILENT_MILLISECONDS = 45000; // it passes on what the console says each 20 seconds
const AGAIN_MILLISECONDS = { first: 2000, longest: 30000 };
const SIGNED_OUT = 401;
const REFUSALS = [SIGNED_OUT, 403, 404]; // the page is not for who looks now, and the answer says why

// Parts of the page by their ids: `due` when what they show has changed since they were asked for,
// `asked` the request while they are. htmx's own queue forgets both as it settles what it swapped.
const parts = {
  connection: { due: false, asked: null, again: AGAIN_MILLISECONDS.first },
  content: { due: false, asked: null, again: AGAIN_MILLISECONDS.first },
};

const kindsOf = (id) => document.getElementById(id)?.dataset.live?.split(" ") ?? [];

const ask = (id) => {
  if (parts[id].due && !parts[id].asked && kindsOf(id).length) {
    htmx.trigger(`#${id}`, "renew");
  }
};

const renew = (id) => {
  parts[id].due = true;
  ask(id);
};

const answered = (id, request) => {
  const part = parts[id];
  if (part.asked !== request) {
    return;
  }
  part.asked = null;
  if (request.status === 0 || request.status >= 500) {
    part.timer = setTimeout(renew, part.again, id);
    part.again = Math.min(part.again * 2, AGAIN_MILLISECONDS.longest);
  } else {
    part.again = AGAIN_MILLISECONDS.first;
  }
  ask(id);
};

// The request tells its end itself: htmx tells nobody whose element was replaced meanwhile.
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const { id } = detail.elt;
  if (parts[id]) {
    clearTimeout(parts[id].timer);
    parts[id].due = false;
    parts[id].asked = detail.xhr;
    detail.xhr.addEventListener("loadend", () => answered(id, detail.xhr));
  }
});

// The status of the refusal that is shown; null where the page is.
let refusal = null;

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.elt.id !== "content") {
    return;
  }
  const { status } = detail.xhr;
  if (REFUSALS.includes(status)) {
    refusal = status;
    detail.shouldSwap = true;
    detail.isError = false;
  } else if (detail.shouldSwap && refusal === SIGNED_OUT) {
    detail.shouldSwap = false;
    location.reload(); // somebody has signed in, perhaps another: all of the page is for them
  } else if (detail.shouldSwap) {
    refusal = null;
  }
});

// The page that is shown, which a search has made another than the one that was loaded.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt.id === "content") {
    detail.path = location.pathname + location.search;
  }
});

// Whether the console says what changes. What was not said meanwhile is asked for.
let lost = false;

const reach = (isLost) => {
  if (lost === isLost) {
    return;
  }
  lost = isLost;
  const words = document.getElementById("unreached").content.cloneNode(true);
  document.getElementById("reach").replaceChildren(...(lost ? [words] : []));
  Object.keys(parts).forEach(renew);
};

const hear = ({ data }) => {
  reach(data.lost);
  const changed = data.kinds.split(" ");
  Object.keys(parts)
    .filter((id) => kindsOf(id).some((kind) => changed.includes(kind)))
    .forEach(renew);
};

let port = null;
let silence;

const connect = (mark) => {
  port?.close?.();
  port?.terminate?.();
  const worker = window.SharedWorker ? new SharedWorker(WORKER) : new Worker(WORKER);
  port = worker.port ?? worker;
  const expect = (milliseconds) => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      reach(true);
      connect(mark);
    }, milliseconds);
  };
  expect(ANSWER_MILLISECONDS);
  port.onmessage = (message) => {
    expect(SILENT_MILLISECONDS);
    hear(message);
  };
  port.postMessage(mark);
};

// How the page gets itself anew, which an answer that refuses it does not say.
const isRenewal = (name) => name.startsWith("hx-") || name === "data-live";

// What the reader has opened or is typing stays as it is, and so does what a page says once.
document.addEventListener("DOMContentLoaded", () => {
  Idiomorph.defaults.ignoreActiveValue = true;
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(name === "open" && node.tagName === "DETAILS") &&
    !(refusal !== null && node.id === "content" && isRenewal(name));
  Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) =>
    !(node instanceof Element && node.classList.contains("console-said"));
  if (document.body.dataset.mark) {
    connect(document.body.dataset.mark);
  }
});
