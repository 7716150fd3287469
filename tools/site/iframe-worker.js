// Search runs in a worker, and browsers start none from a file: a hidden frame stands in for it when the site is opened
// from a folder. It has what the theme's search uses of Worker and importScripts.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      this.heard = event => {
        if (event.source === inside) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      };
      addEventListener("message", this.heard);
      inside.document.open();
      inside.document.write(`<!doctype html><body><script>
        const outside = parent;
        self.postMessage = data => outside.postMessage(data, "*");
        self.importScripts = (...addresses) => addresses.reduce((before, address) => before.then(() => new Promise((done, failed) => {
          const script = document.createElement("script");
          script.src = address; script.onload = done; script.onerror = failed;
          document.body.appendChild(script);
        })), Promise.resolve());
      <\/script><script src="${address}"><\/script>`);
      inside.document.close();
      this.ready = new Promise(done => { inside.onload = done; });
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      removeEventListener("message", this.heard);
      this.frame.remove();
    }
  };
}
