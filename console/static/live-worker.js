// Holds the stream of changes for all tabs, and opens it anew where the last one was cut.
const tabs = new Set();
const told = [];
const TOLD = 200;
let source = null;

const number = (mark) => Number(mark.split("-")[1]);

const tell = (event) => {
  told.push([number(event.lastEventId), event.data]);
  told.splice(0, told.length - TOLD);
  tabs.forEach((tab) => tab.postMessage(event.data));
};

const listen = (mark) => {
  source = new EventSource(`/live?since=${encodeURIComponent(mark)}`);
  source.addEventListener("changed", tell);
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) {
      setTimeout(() => listen("again"), 2000);
    }
  };
};

onconnect = (event) => {
  const tab = event.ports[0];
  tabs.add(tab);
  tab.onmessage = (message) => {
    if (source === null) {
      listen(message.data);
    }
    // What came between the making of the page and this.
    const since = number(message.data);
    told.filter(([at]) => at > since).forEach(([, kinds]) => tab.postMessage(kinds));
  };
};
