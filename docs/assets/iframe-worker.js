// Browsers start no worker from a page that was opened from a disk. There, a hidden
// frame does the worker's job, so that the search works without a server.
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...addresses) => {
        for (const each of addresses) await this.load(each);
      };
      this.ready = this.load(address);
    }

    load(address) {
      return new Promise((done, failed) => {
        const script = this.frame.contentDocument.createElement("script");
        Object.assign(script, { src: address, onload: done, onerror: failed });
        this.frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      const deliver = () =>
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      this.ready.then(deliver);
    }

    terminate() {
      this.frame.remove();
    }
  }
  window.Worker = FrameWorker;
  window.IFrameWorker = FrameWorker; // by this name the search knows that it is one
}
