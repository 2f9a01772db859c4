// Search runs in a worker, and a browser starts none for a page that is opened as a file. There, a
// hidden frame does the same. Without this file the theme would load one like it from another host.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    this.inside.importScripts = (...urls) => this.load(urls);
    this.loaded = this.load([url]);
  }

  async postMessage(data) {
    await this.loaded;
    this.inside.dispatchEvent(new MessageEvent("message", { data }));
  }

  async load(urls) {
    const { document } = this.inside;
    for (const src of urls) {
      const script = Object.assign(document.createElement("script"), { src });
      await new Promise((resolve, reject) => {
        Object.assign(script, { onload: resolve, onerror: reject });
        document.body.append(script);
      });
    }
  }
}

if (location.protocol === "file:") {
  // The theme looks for this name.
  Object.assign(window, { IFrameWorker, Worker: IFrameWorker });
}
