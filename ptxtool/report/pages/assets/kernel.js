/* The view of a kernel: what is chosen, and its parts. */

/* What is shown of a kernel; `update` draws the parts that Preact has. */
class View {
  constructor(kernel, update) {
    this.kernel = kernel;
    this.update = update;
    Object.assign(this, { runIndex: 0, baseIndex: -1, per: "warp", selected: null, pin: null, tab: "instruction", version: 0, even: false, found: "" });
    this.models = [];
    this.build();
    const { spots, model } = this, peak = model.functions[0].peak.warp;
    this.selected = spots ? spots.lost.indexOf(largest(spots.lost)) : peak;
  }

  /* The model and the figures of what is chosen. */
  build() {
    const { kernel } = this;
    this.run = kernel.runs[this.runIndex] || null;
    this.base = kernel.runs[this.baseIndex] || null;
    const t = this.run ? this.run.text : 0;
    this.model = this.models[t] ||= textModel(kernel.texts[t], t ? kernel.texts[0] : null);
    this.spots = (this.run && this.run.hotspots) || null;
    this.mostLost = this.spots ? largest(this.spots.lost) || 1 : 1;
    this.delta = this.base && this.base !== this.run ? deltas(this) : null;
    this.tags = tagsOf(this);
    this.version++;
  }

  show(choice) {
    const line = this.selected === null ? null : this.model.codes[this.selected];
    Object.assign(this, choice);
    const before = this.model;
    this.build();
    if (this.model !== before) {
      this.pin = null;
      this.selected = line && line.g < this.model.codes.length ? line.g : null;
    }
    this.pane?.reset();
    this.overview?.draw();
    this.update();
  }

  select(g, pin) {
    this.selected = g;
    if (pin !== undefined) this.pin = pin;
    this.pane.reveal(g);
    this.pane.refresh();
    this.overview.draw();
    this.update();
  }

  pinRegister(pin) {
    this.pin = pin;
    this.pane.refresh();
    this.update();
  }

  /* The first of some instructions; if one of them is chosen, the one after it. */
  selectNext(instructions) {
    const at = instructions.indexOf(this.selected);
    this.select(instructions[(at + 1) % instructions.length]);
  }

  /* The next place at which the pinned register is defined or used. */
  step(direction) {
    if (!this.pin) return;
    const fn = this.model.functions[this.pin.fn], register = fn.registers[this.pin.k];
    const places = [...new Set([...register.defs, ...register.uses])].map((i) => fn.first + i).sort((a, b) => a - b);
    const at = this.selected ?? -1;
    const next = direction > 0 ? places.find((g) => g > at) ?? places[0] : places.filter((g) => g < at).pop() ?? places[places.length - 1];
    this.select(next);
  }

  /* The hottest instructions one after the other. */
  hottest(direction) {
    if (!this.spots) return;
    const order = this.spots.lost.map((n, g) => [n, g]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).map(([, g]) => g);
    if (!order.length) return;
    const at = order.indexOf(this.selected);
    this.select(order[at < 0 ? 0 : (at + direction + order.length) % order.length]);
  }

  peak() {
    const at = this.selected === null ? 0 : this.model.codes[this.selected].fn, fn = this.model.functions[at];
    if (fn.peak[this.per] !== null) this.select(fn.first + fn.peak[this.per]);
  }

  search(words, direction = 1) {
    this.found = "";
    const { codes } = this.model, n = codes.length, wanted = words.trim().toLowerCase();
    if (!wanted) return this.update();
    const line = /^\d+$/.test(wanted) ? codes.findIndex((code) => code.line >= Number(wanted)) : -1;
    if (line >= 0) return this.select(line);
    const hits = codes.filter((code) => code.text.toLowerCase().includes(wanted)).length;
    this.found = hits ? `${count(hits)} found` : "not found";
    const start = this.selected ?? (direction > 0 ? -1 : n);
    for (let k = 1; k <= n; k++) {
      const g = (((start + direction * k) % n) + n) % n;
      if (codes[g].text.toLowerCase().includes(wanted)) return this.select(g);
    }
    this.update();
  }

  /* Panels as wide as the code, or narrow again. */
  widen() {
    this.even = !this.even;
    this.update();
    requestAnimationFrame(() => this.pane.reset());
  }

  scrollTo(row) {
    const { scroller } = this.pane;
    scroller.scrollTop = row * ROW - scroller.clientHeight / 2;
  }
}

/* Slots lost at each instruction, in percent of all, more than in the run that it is compared with. */
function deltas(view) {
  const { run, base, model, kernel } = view, now = run.hotspots, then = base.hotspots;
  if (!now || !then) return null;
  const share = (spots, g) => (100 * spots.lost[g]) / spots.total;
  if (run.text === base.text) return now.lost.map((_, g) => share(now, g) - share(then, g));
  const toFirst = (t, g, n) => (t === 0 ? g : g < n ? kernel.texts[t].before[g] : -1);
  const size = (t) => kernel.texts[t].functions[0].texts.length;
  const byFirst = new Map();
  then.lost.forEach((_, g) => { const first = toFirst(base.text, g, size(base.text)); if (first >= 0) byFirst.set(first, g); });
  return model.codes.map(({ g }) => {
    const other = byFirst.get(toFirst(run.text, g, size(run.text)));
    return share(now, g) - (other === undefined ? 0 : share(then, other));
  });
}

/* What is written beside an instruction: where lanes part, the peak, diagnostics. */
function tagsOf({ model, per, kernel, run }) {
  const tags = new Map();
  for (const fn of model.functions) {
    if (fn.peak[per] !== null) tags.set(fn.first + fn.peak[per], { kind: "", text: `peak: ${fn[per][fn.peak[per]]} live` });
    for (const [i, at] of Object.entries(fn.divergent)) tags.set(fn.first + Number(i), { kind: "", text: `may diverge, rejoins ${at < fn.lines.length ? `line ${fn.lines[at]}` : "at the end"}` });
  }
  if (run && run.text) return tags;
  const byLine = new Map(model.codes.map((code) => [code.line, code.g]));
  for (const found of kernel.diagnostics) {
    const g = byLine.get(found.line);
    if (g !== undefined) tags.set(g, { kind: found.severity === "error" ? "err" : "", text: found.code });
  }
  return tags;
}

const HELP = [["↑ ↓ PgUp PgDn Home End", "move in the code, when it has the focus"], ["p", "the place of greatest pressure"], ["h H", "the next, the previous hottest instruction"], ["[ ]", "the previous, the next place of the pinned register"], ["/", "search: words, or a line number; Enter for the next"], ["w", "live registers of a warp, or of a thread"], ["r", "the next run"], ["1 ... 9", "a panel"], ["e", "wider panels, or wider code"], ["t", "light or dark"], ["Esc", "unpin, or close this"], ["?", "this help"]];

function KernelView({ kernel, back }) {
  const [, redraw] = useState(0), view = useRef(), scroller = useRef(), curve = useRef(), search = useRef(), help = useRef();
  if (!view.current || view.current.kernel !== kernel) view.current = new View(kernel, () => redraw((n) => n + 1));
  const state = view.current, { model, spots, run } = state;
  const hasCuda = model.functions.some((fn) => fn.places.length);
  const [wide, setWide] = useState(innerWidth > 900);
  useEffect(() => {
    state.pane = new CodePane(scroller.current, state);
    state.overview = new Overview(curve.current, state);
    state.onView = (from, to) => state.overview.draw(from, to);
    if (state.selected !== null) state.pane.reveal(state.selected);
    state.overview.draw();
    const resize = () => { setWide(innerWidth > 900); state.pane.reset(); };
    addEventListener("resize", resize);
    return () => removeEventListener("resize", resize);
  }, [kernel]);
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input, select, textarea, dialog")) return;
      const keys = {
        p: () => state.peak(), h: () => state.hottest(1), H: () => state.hottest(-1), "[": () => state.step(-1), "]": () => state.step(1), t: toggleTheme,
        "/": () => search.current.focus(), w: () => state.show({ per: state.per === "warp" ? "thread" : "warp" }), "?": () => help.current.showModal(),
        e: () => state.widen(),
        r: () => kernel.runs.length > 1 && state.show({ runIndex: (state.runIndex + 1) % kernel.runs.length }), Escape: () => state.pin && state.pinRegister(null),
      };
      const panel = tabs[Number(event.key) - 1];
      const act = keys[event.key] || (panel && (() => { state.tab = panel[0]; state.update(); }));
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  const cudaBeside = hasCuda && wide;
  const tabs = [["instruction", "Instruction", InstructionPanel], ...(hasCuda && !wide ? [["cuda", "CUDA", CudaPanel]] : []), ["stalls", "Stalls", StallsPanel], ["graph", "Graph", GraphPanel], ["memory", "Memory", MemoryPanel], ["occupancy", "Occupancy", OccupancyPanel], ["whatif", "What if", WhatIfPanel], ["runs", "Runs", RunsPanel], ["diagnostics", "Diagnostics", DiagnosticsPanel]];
  if (!tabs.some(([key]) => key === state.tab)) state.tab = "instruction";
  const Panel = tabs.find(([key]) => key === state.tab)[2];
  const open = (tab) => () => { state.tab = tab; state.update(); if (!wide) document.getElementById("panel").scrollIntoView(); };
  const fn = model.functions[0], { counts, occupancy } = kernel, top = spots && Object.entries(spots.reasons).sort((a, b) => b[1] - a[1])[0];
  const errors = kernel.diagnostics.filter((d) => d.severity === "error").length;
  return html`<div class="view">
    <header class="top"><div class="title">${back && html`<button type="button" class="link" onClick=${back}>All kernels</button>`}<h1>${kernel.shown}</h1><div class="soft" title=${model.text.file}>${model.text.file.split(/[\\/]/).pop()} · ${model.text.target || "no target"} · ${kernel.machine}</div></div>
      <div class="tools">
        ${kernel.runs.length > 0 && html`<label>Run <select value=${state.runIndex} onChange=${(e) => state.show({ runIndex: Number(e.target.value) })}>${kernel.runs.map((r, k) => html`<option value=${k}>${r.name}</option>`)}</select></label>`}
        ${kernel.runs.length > 1 && html`<label>compared with <select value=${state.baseIndex} onChange=${(e) => state.show({ baseIndex: Number(e.target.value) })}><option value="-1">nothing</option>${kernel.runs.map((r, k) => html`<option value=${k}>${r.name}</option>`)}</select></label>`}
        <${ThemeButton} /><button type="button" onClick=${() => help.current.showModal()}>Keys <kbd>?</kbd></button></div></header>
    <div class="tiles">
      <${Tile} name=${`Live registers per ${state.per}`} value=${fn.peak[state.per] === null ? 0 : fn[state.per][fn.peak[state.per]]} note=${fn.peak[state.per] === null ? "" : `line ${fn.lines[fn.peak[state.per]]}; ${counts.allocated ?? "?"} allocated${counts.ptxas ? `, ptxas ${counts.ptxas.registers}` : ""}`} onClick=${() => state.peak()} />
      <${Tile} name="Occupancy" value=${occupancy.reason ? "?" : `${occupancy.active_warps} / ${occupancy.max_warps}`} note=${occupancy.reason ? "threads of a CTA unknown" : `warps, ${plural(occupancy.resident_ctas, "CTA")}; limited by ${occupancy.all_limiters.join(", ")}`} onClick=${open("occupancy")} />
      ${run && html`<${Tile} name="Cycles" value=${count(run.counters.cycles)} note=${`thread IPC ${number(run.counters.thread_ipc)}`} onClick=${open("runs")} />`}
      ${top && html`<${Tile} name="Most slots lost to" value=${percent(top[1], spots.total)} note=${`${DATA.reasons.find((r) => r.name === top[0]).label}; ${percent(spots.issued, spots.total)} issued`} onClick=${open("stalls")} />`}
      <${Tile} name="Diagnostics" value=${kernel.n_diagnostics} note=${kernel.n_diagnostics ? `${plural(errors, "error")} among them` : "no errors, no warnings"} onClick=${open("diagnostics")} />
    </div>
    <div class="overview"><canvas ref=${curve} role="img" aria-label=${`Live registers along the text: ${fn.peak[state.per] === null ? 0 : fn[state.per][fn.peak[state.per]]} at most, at line ${fn.peak[state.per] === null ? 0 : fn.lines[fn.peak[state.per]]}`}></canvas><div class="cap">live registers per ${state.per}${spots ? ", lost slots below" : ""}</div></div>
    <div class=${`panes ${cudaBeside ? "cuda" : ""} ${state.even ? "even" : ""}`}>
      ${cudaBeside && html`<section class="pane" aria-label="CUDA source"><div class="panehead"><strong>CUDA</strong><span class="soft">${Object.keys(model.text.sources).length ? "" : "line numbers; --source embeds the text"}</span></div><${CudaPanel} state=${state} /></section>`}
      <section class="pane" aria-label="Code"><div class="panehead"><form onSubmit=${(e) => { e.preventDefault(); state.search(search.current.value); }}><input ref=${search} type="search" placeholder="Search or line" aria-label="Search the code, or go to a line" onKeyDown=${(e) => { if (e.key === "Escape") scroller.current.focus(); }} /></form>
          <span class="soft" role="status">${state.found}</span><span class="grow"></span>
          <button type="button" onClick=${() => state.peak()}>Peak</button>${spots && html`<button type="button" onClick=${() => state.hottest(1)}>Next hot spot</button>`}
          <label>per <select value=${state.per} onChange=${(e) => state.show({ per: e.target.value })}><option value="warp">warp</option><option value="thread">thread</option></select></label></div>
        <div class="code" ref=${scroller}></div>
        <${Legend} model=${model} spots=${spots} /></section>
      <section class="pane" aria-label="Details"><${Tabs} label="Panels" tabs=${tabs} chosen=${state.tab} choose=${(tab) => { state.tab = tab; state.update(); }}>${wide && html`<button type="button" class="even" aria-pressed=${String(state.even)} onClick=${() => state.widen()}>${state.even ? "Narrower" : "Wider"}</button>`}</>
        <div class="panel" id="panel" role="tabpanel" aria-labelledby=${`tab-${state.tab}`} tabindex="0"><${Panel} key=${`${state.tab} ${state.runIndex}`} state=${state} /></div></section>
    </div>
    <dialog ref=${help} aria-label="Keys"><h2>Keys</h2><table class="full"><tbody>${HELP.map(([key, what]) => html`<tr><td><kbd>${key}</kbd></td><td>${what}</td></tr>`)}</tbody></table><p><button type="button" onClick=${() => help.current.close()}>Close</button></p></dialog>
  </div>`;
}

function GraphPanel({ state }) {
  const [f, choose] = useState(state.selected === null ? 0 : state.model.codes[state.selected].fn);
  const { functions } = state.model, at = f < functions.length ? f : 0;
  return html`${functions.length > 1 && html`<p><label>Function <select value=${at} onChange=${(e) => choose(Number(e.target.value))}>${functions.map((fn, k) => html`<option value=${k}>${fn.shown}</option>`)}</select></label></p>`}<${Graph} state=${state} f=${at} />`;
}

function Legend({ model, spots }) {
  const classes = new Map(model.functions.flatMap((fn) => fn.registers.map((r) => [r.class, colourOf(r)])));
  return html`<div class="keys">${[...classes].map(([name, token]) => html`<span><i style=${`background:var(--${token})`}></i>${name}</span>`)}<span>thick: defined, thin: used</span>
    ${spots && ["stall", "scoreboard", "idle"].map((kind) => html`<span><i class=${`k-${kind}`}></i>${kind}</span>`)}</div>`;
}
