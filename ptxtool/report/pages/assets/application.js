/* The page of an application: its kernels by time, and the view of the one that is chosen. */

const APPLICATION = DATA.application;

function ApplicationView() {
  const [chosen, choose] = useState(null);
  useEffect(() => {
    const press = (event) => { if (chosen === null && event.key === "t" && !event.ctrlKey && !event.metaKey) toggleTheme(); };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [chosen]);
  if (chosen !== null) return html`<${KernelView} kernel=${APPLICATION.measured[chosen]} back=${() => choose(null)} />`;
  const { kernels, timed, measured } = APPLICATION, time = (seconds) => `${number(seconds * 1e6, 1)} µs`;
  const columns = [
    { title: "kernel", of: (k) => k.shown, show: (k) => (measured[k.kernel] ? html`<button type="button" class="link" onClick=${() => choose(k.kernel)}>${k.shown}</button>` : k.shown) },
    { title: "launches", num: true, of: (k) => k.launches },
    { title: "warp instructions", num: true, of: (k) => k.warp_instructions },
    ...(timed ? [{ title: "cycles", num: true, of: (k) => k.cycles }, { title: "time", num: true, of: (k) => k.seconds, show: (k) => time(k.seconds) }] : []),
    { title: "share", num: true, of: (k) => k.share, show: (k) => percent(k.share, 1) },
    { title: "", of: (k) => k.share, show: (k) => html`<${Bar} parts=${[["accent", k.share]]} whole=${1} />` },
  ];
  const launches = [
    { title: "number", num: true, of: (l) => l.number },
    { title: "kernel", of: (l) => l.kernel },
    { title: "grid", of: (l) => l.grid },
    { title: "block", of: (l) => l.block },
    { title: "warp instructions", num: true, of: (l) => l.warp_instructions },
    ...(timed ? [{ title: "cycles", num: true, of: (l) => l.cycles, show: (l) => `${count(l.cycles)}${l.estimated ? " (estimated)" : ""}` }] : []),
    { title: "error", of: (l) => l.error, show: (l) => (l.error ? html`<span class="bad">${l.error}</span>` : "") },
  ];
  return html`<header class="top"><div class="title"><h1>${APPLICATION.command.join(" ")}</h1><div class="soft">${timed ? `on ${APPLICATION.gpu}` : "without time"}${APPLICATION.passes ? `, after ${APPLICATION.passes}` : ""}</div></div><div class="tools"><${ThemeButton} /></div></header>
    <div class="tiles"><${Tile} name="Launches" value=${count(APPLICATION.launches)} note=${plural(kernels.length, "kernel")} />
      ${timed && html`<${Tile} name="Cycles" value=${count(APPLICATION.cycles)} note=${time(APPLICATION.seconds)} />`}
      <${Tile} name="Warp instructions" value=${count(APPLICATION.warp_instructions)} note="of all launches" />
      <${Tile} name="Exit status" value=${APPLICATION.status} note=${APPLICATION.problems.length ? plural(APPLICATION.problems.length, "problem") : "no problems"} /></div>
    <div class="plain"><section><h2>Kernels</h2>${Object.keys(measured).length > 0 && html`<p class="soft">A kernel opens on the lines of its longest simulated launch.</p>`}
        <${Table} label="Kernels" columns=${columns} rows=${kernels} /></section>
      ${APPLICATION.problems.length > 0 && html`<section><h2>Problems</h2>${APPLICATION.problems.map((p) => html`<div class="diagnostic error">${p}</div>`)}</section>`}
      <section><h2>Launches</h2>${APPLICATION.launches > APPLICATION.launch_list.length && html`<p class="soft">the first ${count(APPLICATION.launch_list.length)} of ${count(APPLICATION.launches)}</p>`}<${Table} label="Launches" columns=${launches} rows=${APPLICATION.launch_list} /></section></div>`;
}

render(html`<${ApplicationView} />`, document.getElementById("app"));
