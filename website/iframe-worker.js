/* Workers for pages that are opened from files: browsers refuse them there. The search of the theme then runs in a
   hidden frame of the page instead. The theme knows the name IFrameWorker. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      this.waiting = [];
      document.body.append(frame);
      const inside = frame.contentWindow;
      const load = (src) => new Promise((onload, onerror) => {
        inside.document.head.append(Object.assign(inside.document.createElement("script"), { src, onload, onerror }));
      });
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...urls) => { for (const each of urls.flat()) await load(each); };
      load(new URL(url, location.href).href).then(() => {
        this.inside = inside;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
  };
  window.Worker = window.IFrameWorker;
}
