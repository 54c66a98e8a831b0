// Makes the page anew when what it shows has changed, and says where it may be old.
//
// One stream serves all tabs of a browser, which has no more than six connections for them. Where
// tabs cannot share a worker, each has its own. What the stream has not brought, the page asks for.
const WORKER = "/static/live-worker.js";
const CONNECTION = "/connection"; // what all pages say of the API server
const ANSWER_MILLISECONDS = 5000; // the worker answers at once, if it runs
const SILENT_MILLISECONDS = 45000; // it passes on what the console says each 20 seconds
const TYPING_MILLISECONDS = 500; // a search makes the page another with each letter
const AGAIN_MILLISECONDS = { first: 2000, longest: 30000 };
const OK = 200;
const REFUSALS = [401, 403, 404]; // the page is not for who looks now, and the answer says why

const content = () => document.getElementById("content");

const isLive = () => content()?.dataset.live !== undefined;

const isSignedOut = () => content()?.dataset.live === "session";

const here = () => location.pathname + location.search;

// `due` when what the page shows has changed since it was asked for, `asked` the request while it is.
// htmx's own queue forgets both as it settles what it swapped.
let due = false;
let asked = null;
let timer;
let again = AGAIN_MILLISECONDS.first;

const ask = () => {
  if (due && !asked && isLive()) {
    htmx.trigger("#content", "renew");
  }
};

const renew = () => {
  due = true;
  ask();
};

const answered = (request) => {
  if (asked !== request) {
    return;
  }
  asked = null;
  if (request.status === 0 || request.status >= 500) {
    timer = setTimeout(renew, again);
    again = Math.min(again * 2, AGAIN_MILLISECONDS.longest);
  } else {
    again = AGAIN_MILLISECONDS.first;
  }
  ask();
};

// The request reports its end itself: htmx notifies nobody whose element was replaced meanwhile.
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.elt.id === "content") {
    clearTimeout(timer);
    due = false;
    asked = detail.xhr;
    detail.xhr.addEventListener("loadend", () => answered(detail.xhr));
  }
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const whose = detail.xhr.getResponseHeader("Console-Session");
  if (whose && whose !== document.body.dataset.session) {
    detail.shouldSwap = false;
    location.reload(); // somebody has signed in, perhaps another: all of the page is for them
  } else if (detail.elt.id === "content" && REFUSALS.includes(detail.xhr.status)) {
    detail.shouldSwap = true;
    detail.isError = false;
  }
});

// The page that is shown, which a search has made another than the one that was loaded.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt.id === "content") {
    detail.path = here();
  }
});

const put = (id, html) =>
  htmx.swap(
    `#${id}`,
    html,
    { swapStyle: id === "content" ? "morph:outerHTML" : "morph:innerHTML", settleDelay: 0 },
    { select: id === "content" ? "#content" : "", contextElement: document.getElementById(id) },
  );

// What the stream has brought.
const take = ({ url, status, html }) => {
  if (url === CONNECTION && status === OK) {
    put("connection", html);
  } else if (url === here()) {
    if (asked || status >= 500) {
      renew(); // what was asked for may be older, and would come later
    } else if (status === OK || REFUSALS.includes(status)) {
      due = false;
      put("content", html);
    }
  }
};

// Whether the console is reached, and whose the stream is.
let lost = false;
let isSomebodyElse = false;
let said = "";

const say = () => {
  const unreached = lost && !isSignedOut() ? "unreached" : "";
  const what = isSomebodyElse && !isLive() ? "somebody-else" : unreached;
  if (what !== said) {
    said = what;
    const words = what === "" ? [] : [document.getElementById(what).content.cloneNode(true)];
    document.getElementById("reach").replaceChildren(...words);
  }
};

document.addEventListener("htmx:afterSettle", say);

const reach = (isLost) => {
  if (lost === isLost) {
    return;
  }
  lost = isLost;
  say();
  if (lost) {
    renew(); // it may have refused: its answer to a page says why
  }
};

// `page` is of the stream of a session, which is no other than what this page is of, unless somebody
// has signed in meanwhile. Then the page asks for itself, and the answer has all of it loaded anew.
const receive = ({ session, page }) => {
  isSomebodyElse = session !== document.body.dataset.session;
  say();
  if (isSomebodyElse || isSignedOut()) {
    renew();
  } else if (page !== null) {
    marks[page.url] = page.mark;
    take(page);
  }
};

const marks = {}; // of the pages that the stream has brought
let port = null;
let silence;
let posting;

const expect = (milliseconds) => {
  clearTimeout(silence);
  silence = setTimeout(() => {
    reach(true);
    connect();
  }, milliseconds);
};

// Sends the worker what somebody sees here, and of when that is.
const post = () => {
  clearTimeout(posting);
  if (document.hidden) {
    clearTimeout(silence);
    port.postMessage({});
    return;
  }
  expect(ANSWER_MILLISECONDS);
  const pages = isLive() ? [here(), CONNECTION] : [CONNECTION];
  const { mark } = document.body.dataset;
  port.postMessage(Object.fromEntries(pages.map((url) => [url, marks[url] ?? mark])));
};

const postSoon = () => {
  clearTimeout(posting);
  posting = setTimeout(post, TYPING_MILLISECONDS);
};

const connect = () => {
  port?.close?.();
  port?.terminate?.();
  const worker = window.SharedWorker ? new SharedWorker(WORKER) : new Worker(WORKER);
  port = worker.port ?? worker;
  port.onmessage = ({ data }) => {
    if (document.hidden) {
      return; // once it is seen again, it is sent what it has missed
    }
    expect(SILENT_MILLISECONDS);
    reach(data.lost);
    if (data.session !== "") {
      receive(data);
    }
  };
  post();
};

// What the reader has opened or is typing stays as it is, and so does what a page says once. That has
// an id: else it would be taken for the first element of the same name that the page has now.
document.addEventListener("DOMContentLoaded", () => {
  Idiomorph.defaults.ignoreActiveValue = true;
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(name === "open" && node.tagName === "DETAILS");
  Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) =>
    !(node instanceof Element && node.classList.contains("console-said"));
  if (document.body.dataset.mark || isLive()) {
    connect();
    document.addEventListener("visibilitychange", post);
    addEventListener("pageshow", ({ persisted }) => persisted && post());
    addEventListener("pagehide", () => port.postMessage(null));
    for (const moved of ["pushedIntoHistory", "replacedInHistory", "historyRestore"]) {
      document.addEventListener(`htmx:${moved}`, postSoon);
    }
  }
});
