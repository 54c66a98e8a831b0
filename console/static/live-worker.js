// Holds the stream of changes for all tabs, and opens it anew where the last one was cut.
const tabs = new Set();
let source = null;

const listen = (mark) => {
  source = new EventSource(`/live?since=${encodeURIComponent(mark)}`);
  source.addEventListener("changed", (event) => tabs.forEach((tab) => tab.postMessage(event.data)));
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) {
      setTimeout(() => listen("again"), 2000);
    }
  };
};

onconnect = (event) => {
  const tab = event.ports[0];
  tabs.add(tab);
  tab.onmessage = (message) => source || listen(message.data);
};
