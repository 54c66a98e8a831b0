// Holds the stream of pages for all tabs, or for the one whose worker this is.
//
// The stream is asked for what tabs show that somebody can see. It is opened anew where they show
// something else, and where the last one was cut or has fallen silent.
const TOGETHER_MILLISECONDS = 100; // within which tabs that come and go cause one stream
const LOST_MILLISECONDS = 3000; // a stream that is cut is there again after one second
const SILENT_MILLISECONDS = 30000; // the console says something each 20 seconds
const AGAIN_MILLISECONDS = { first: 2000, longest: 30000 }; // after the console has refused

const tabs = new Map(); // what each shows: marks by the addresses of pages, none where it is hidden
let source = null;
let session = "";
let lost = false;
let losing;
let silence;
let changing;
let again = AGAIN_MILLISECONDS.first;

const send = (tab, page = null) => tab.postMessage({ lost, session, page });

const sendAll = (page) => tabs.forEach((_, tab) => send(tab, page));

const miss = () => {
  losing ??= setTimeout(() => {
    lost = true;
    sendAll();
  }, LOST_MILLISECONDS);
};

const noteReached = (page) => {
  clearTimeout(losing);
  losing = undefined;
  lost = false;
  clearTimeout(silence);
  silence = setTimeout(() => {
    miss();
    listen();
  }, SILENT_MILLISECONDS);
  sendAll(page);
};

// Marks of one run of the console can be compared; any other is as old as can be.
const older = (one, other) => {
  const [[run, number], [otherRun, otherNumber]] = [one, other].map((each) => each.split("-"));
  if (run !== otherRun) {
    return "";
  }
  return Number(number) < Number(otherNumber) ? one : other;
};

const seen = () => {
  const pages = new Map();
  for (const shown of tabs.values()) {
    for (const [url, mark] of Object.entries(shown)) {
      pages.set(url, pages.has(url) ? older(pages.get(url), mark) : mark);
    }
  }
  return pages;
};

const receive = (page) => {
  for (const shown of tabs.values()) {
    if (page.url in shown) {
      shown[page.url] = page.mark;
    }
  }
  noteReached(page);
};

const close = () => {
  source?.close();
  source = null;
  session = "";
  clearTimeout(silence);
};

const listen = () => {
  close();
  const pages = seen();
  const query = new URLSearchParams();
  pages.forEach((mark, url) => query.append("page", `${mark} ${url}`));
  if (pages.size === 0) {
    clearTimeout(losing);
    losing = undefined;
    lost = false;
    return;
  }
  miss();
  const opened = new EventSource(`/live?${query}`);
  source = opened;
  opened.addEventListener("session", ({ data }) => {
    again = AGAIN_MILLISECONDS.first;
    session = data;
    noteReached();
  });
  opened.addEventListener("page", ({ data }) => receive(JSON.parse(data)));
  opened.addEventListener("nothing", () => noteReached());
  opened.onerror = () => {
    miss();
    if (opened.readyState === EventSource.CLOSED) {
      setTimeout(() => source === opened && listen(), again);
      again = Math.min(again * 2, AGAIN_MILLISECONDS.longest);
    }
  };
};

// What comes meanwhile is sent by the next stream, as marks say what tabs have.
const change = () => {
  close();
  changing ??= setTimeout(() => {
    changing = undefined;
    listen();
  }, TOGETHER_MILLISECONDS);
};

// A tab says what it shows; null where it leaves.
const meet = (tab, shown) => {
  if (shown === null) {
    tabs.delete(tab);
  } else {
    tabs.set(tab, shown);
    send(tab);
  }
  change();
};

if ("onconnect" in self) {
  self.onconnect = ({ ports: [tab] }) => {
    tab.onmessage = ({ data }) => meet(tab, data);
  };
} else {
  self.onmessage = ({ data }) => meet(self, data);
}
