// Holds the stream of changes for all tabs, or for the one whose worker this is.
//
// Opens it anew where the last one was cut or has fallen silent, and says when it is lost.
const OLDEST = 200; // changes that are kept for tabs that come late
const LOST_MILLISECONDS = 3000; // a stream that is cut is there again after one second
const SILENT_MILLISECONDS = 30000; // the console says something each 20 seconds
const AGAIN_MILLISECONDS = { first: 2000, longest: 30000 }; // after the console has refused

const tabs = new Set();
const told = [];
let source = null;
let lost = false;
let losing;
let silence;
let again = AGAIN_MILLISECONDS.first;

const number = (mark) => Number(mark.split("-")[1]);

const tell = (kinds) => tabs.forEach((tab) => tab.postMessage({ lost, kinds }));

const miss = () => {
  losing ??= setTimeout(() => {
    lost = true;
    tell("");
  }, LOST_MILLISECONDS);
};

const hear = (kinds) => {
  clearTimeout(losing);
  losing = undefined;
  lost = false;
  clearTimeout(silence);
  silence = setTimeout(() => {
    miss();
    listen("again");
  }, SILENT_MILLISECONDS);
  tell(kinds);
};

const listen = (mark) => {
  source?.close();
  const opened = new EventSource(`/live?since=${encodeURIComponent(mark)}`);
  source = opened;
  opened.onopen = () => {
    again = AGAIN_MILLISECONDS.first;
    hear("");
  };
  opened.addEventListener("changed", (event) => {
    told.push([number(event.lastEventId), event.data]);
    told.splice(0, told.length - OLDEST);
    hear(event.data);
  });
  opened.onerror = () => {
    miss();
    if (opened.readyState === EventSource.CLOSED) {
      setTimeout(() => source === opened && listen("again"), again);
      again = Math.min(again * 2, AGAIN_MILLISECONDS.longest);
    }
  };
};

const meet = (tab, mark) => {
  tabs.add(tab);
  if (source === null) {
    miss();
    listen(mark);
  } else if (source.readyState === EventSource.CLOSED) {
    listen("again"); // a page was loaded, so the console does not refuse any more
  }
  // What came between the making of the page and this.
  const since = told.filter(([at]) => at > number(mark)).map(([, kinds]) => kinds);
  tab.postMessage({ lost, kinds: since.join(" ") });
};

if ("onconnect" in self) {
  self.onconnect = ({ ports: [tab] }) => {
    tab.onmessage = ({ data }) => meet(tab, data);
  };
} else {
  self.onmessage = ({ data }) => meet(self, data);
}
