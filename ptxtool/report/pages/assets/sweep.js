/* The page of a sweep: what is chosen of its runs, as a table with bars and as a chart. */

const SWEEP = DATA.sweep;
const COLOURS = ["w32", "pred", "issued", "w64", "stall", "w16", "w128", "idle"];
const shownValue = (value) => (value === "" || value === 0 || value === false ? "default" : String(value));

/* The mean of the runs of each cell: rows and columns are values of axes, "" for all other axes that vary, joined. */
function pivot(choice) {
  const { rows, columns, counter, gain, filters } = choice, values = SWEEP.counters[counter] || [];
  const axes = Object.keys(SWEEP.axes), others = axes.filter((axis) => axis !== rows && axis !== columns);
  const key = (run, axis) => (axis ? shownValue(run.axes[axis]) : others.map((each) => (run.axes[each] === "" || run.axes[each] === 0 || run.axes[each] === false ? "" : String(run.axes[each]))).filter(Boolean).join(" ") || "default");
  const cells = new Map(), rowKeys = new Set(), columnKeys = new Set();
  SWEEP.runs.forEach((run, i) => {
    if (axes.some((axis) => filters[axis] && filters[axis].has(shownValue(run.axes[axis])))) return;
    const [r, c] = [rows ? key(run, rows) : "all", key(run, columns)];
    rowKeys.add(r);
    columnKeys.add(c);
    const id = JSON.stringify([r, c]);
    if (!cells.has(id)) cells.set(id, []);
    if (values[i] !== null && values[i] !== undefined && run.status === "done") cells.get(id).push(values[i]);
  });
  const table = { rows: [...rowKeys], columns: [...columnKeys] };
  const mean = (list) => (list && list.length ? list.reduce((a, b) => a + b, 0) / list.length : null);
  const plain = (r, c) => mean(cells.get(JSON.stringify([r, c])));
  const baseline = table.columns.includes(choice.baseline) ? choice.baseline : table.columns[0];
  table.at = (r, c) => (gain ? (plain(r, c) === null || !plain(r, baseline) ? null : 100 * (plain(r, c) / plain(r, baseline) - 1)) : plain(r, c));
  table.runs = (r, c) => (cells.get(JSON.stringify([r, c])) || []).length;
  table.baseline = baseline;
  const all = table.rows.flatMap((r) => table.columns.map((c) => table.at(r, c))).filter((v) => v !== null);
  table.low = Math.min(0, ...all);
  table.high = Math.max(0, ...all);
  return table;
}

function PivotTable({ table, choice }) {
  const span = table.high - table.low || 1, zero = (-100 * table.low) / span;
  return html`<div class="wide" tabindex="0" role="region" aria-label="Table of the chosen runs"><table class="pivot full"><thead><tr><th scope="col">${choice.rows || "runs"}</th>${table.columns.map((c) => html`<th scope="col" class="num">${c}</th>`)}</tr></thead>
    <tbody>${table.rows.map((r) => html`<tr><th scope="row">${r}</th>${table.columns.map((c) => {
      const v = table.at(r, c), n = table.runs(r, c);
      return html`<td class="num" title=${n > 1 ? `mean of ${n} runs` : ""}>${v === null ? html`<span class="soft">-</span>` : choice.gain ? `${signed(v, 2)}%` : number(v)}
        ${v !== null && html`<div class="bar" style="position:relative"><i class=${choice.gain && v < 0 ? "k-stall" : "k-accent"} style=${`position:absolute;left:${v < 0 ? zero - (100 * -v) / span : zero}%;width:${(100 * Math.abs(v)) / span}%`}></i></div>`}</td>`;
    })}</tr>`)}</tbody></table></div>`;
}

/* Groups of bars, a group per row and a bar per column. */
function BarChart({ table, choice }) {
  const { rows, columns } = table;
  if (rows.length * columns.length > 400 || !rows.length) return html`<p class="soft">Too many bars for a chart: choose fewer runs with the filters.</p>`;
  const bar = Math.max(4, Math.min(22, 900 / (rows.length * (columns.length + 1)))), group = bar * (columns.length + 1), h = 240, left = 56, below = 70, span = table.high - table.low || 1;
  const y = (v) => 10 + ((table.high - v) * (h - 10)) / span, width = left + rows.length * group + 20;
  return html`<div class="wide" tabindex="0" role="region" aria-label="Chart of the chosen runs"><div class="legend">${columns.map((c, k) => html`<span><i style=${`background:var(--${COLOURS[k % COLOURS.length]})`}></i>${c}</span>`)}</div>
    <svg width=${width} height=${h + below} role="img" aria-label=${`${choice.counter} of ${rows.length} rows and ${columns.length} columns; the table above has the numbers`}>
      ${[table.low, (table.low + table.high) / 2, table.high].map((v) => html`<line class="grid" x1=${left} x2=${width} y1=${y(v)} y2=${y(v)} /><text x=${left - 6} y=${y(v) + 4} text-anchor="end">${number(v, span < 10 ? 2 : 0)}</text>`)}
      <line class="axis" x1=${left} x2=${width} y1=${y(0)} y2=${y(0)} />
      ${rows.map((r, i) => html`${columns.map((c, k) => { const v = table.at(r, c); return v !== null && html`<rect x=${left + i * group + (k + 0.5) * bar} y=${Math.min(y(0), y(v))} width=${Math.max(2, bar - 2)} height=${Math.max(1, Math.abs(y(v) - y(0)))} fill=${`var(--${COLOURS[k % COLOURS.length]})`} onMouseMove=${(event) => showTip(event, `${r}\n${c}\n${choice.gain ? `${signed(v, 2)}%` : number(v)}`)} onMouseLeave=${hideTip} />`; })}
        <text x=${left + i * group + group / 2} y=${h + 14} text-anchor="end" transform=${`rotate(-35 ${left + i * group + group / 2} ${h + 14})`}>${r.length > 16 ? `${r.slice(0, 15)}…` : r}</text>`)}
    </svg></div>`;
}

function SweepView() {
  const axes = Object.keys(SWEEP.axes), names = Object.keys(SWEEP.counters);
  const [choice, set] = useState({ rows: axes.includes("kernel") ? "kernel" : axes[0] || "", columns: "", counter: names.includes("thread_ipc") ? "thread_ipc" : names[0] || "", gain: false, baseline: "", filters: {} });
  const change = (part) => set({ ...choice, ...part });
  const table = useMemo(() => pivot(choice), [choice]);
  const statuses = new Map();
  for (const run of SWEEP.runs) statuses.set(run.status, (statuses.get(run.status) || 0) + 1);
  const toggle = (axis, value) => {
    const left = new Set(choice.filters[axis]);
    if (!left.delete(value)) left.add(value);
    change({ filters: { ...choice.filters, [axis]: left } });
  };
  useEffect(() => {
    const press = (event) => { if (event.key === "t" && !event.ctrlKey && !event.metaKey && !event.target.closest("input, select")) toggleTheme(); };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const columns = useMemo(() => [{ title: "run", of: (r) => r.label }, ...axes.map((axis) => ({ title: axis.replace("_", " "), of: (r) => r.axes[axis], show: (r) => shownValue(r.axes[axis]) })),
    { title: "status", of: (r) => r.status, show: (r) => html`<span class=${`status-${r.status}`}>${r.status}</span>` }, { title: choice.counter, num: true, of: (r) => SWEEP.counters[choice.counter]?.[SWEEP.runs.indexOf(r)] ?? null, show: (r) => number(SWEEP.counters[choice.counter]?.[SWEEP.runs.indexOf(r)] ?? "-") }], [choice.counter]);
  const bad = SWEEP.runs.filter((run) => run.status !== "done");
  return html`<header class="top"><div class="title"><h1>${SWEEP.name}</h1><div class="soft">sweep${Object.entries(SWEEP.fixed).map(([axis, value]) => ` · ${axis.replace("_", " ")} ${value}`)}</div></div><div class="tools"><${ThemeButton} /></div></header>
    <div class="tiles"><${Tile} name="Runs" value=${count(SWEEP.runs.length)} note=${SWEEP.complete ? "all have ended" : "not all have run"} />
      ${[...statuses].map(([status, n]) => html`<${Tile} name=${status} value=${count(n)} note=${percent(n, SWEEP.runs.length, 0)} />`)}
      <${Tile} name="Axes that vary" value=${axes.length} note=${axes.map((axis) => `${axis.replace("_", " ")}: ${SWEEP.axes[axis].length}`).join(", ")} /></div>
    <div class="plain"><section>
      <div class="controls">
        <label>Value <select value=${choice.counter} onChange=${(e) => change({ counter: e.target.value })}>${names.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
        <label>Rows <select value=${choice.rows} onChange=${(e) => change({ rows: e.target.value })}><option value="">one row</option>${axes.map((axis) => html`<option value=${axis}>${axis}</option>`)}</select></label>
        <label>Columns <select value=${choice.columns} onChange=${(e) => change({ columns: e.target.value })}><option value="">all else</option>${axes.map((axis) => html`<option value=${axis}>${axis}</option>`)}</select></label>
        <label>Show <select value=${choice.gain ? "gain" : "value"} onChange=${(e) => change({ gain: e.target.value === "gain" })}><option value="value">the value</option><option value="gain">gain over a column</option></select></label>
        ${choice.gain && html`<label>Baseline <select value=${table.baseline} onChange=${(e) => change({ baseline: e.target.value })}>${table.columns.map((c) => html`<option value=${c}>${c}</option>`)}</select></label>`}
      </div>
      <div class="filters">${axes.map((axis) => html`<details><summary>${axis.replace("_", " ")}${choice.filters[axis]?.size ? ` (${choice.filters[axis].size} hidden)` : ""}</summary>${SWEEP.axes[axis].map(shownValue).map((value) => html`<label><input type="checkbox" checked=${!choice.filters[axis]?.has(value)} onChange=${() => toggle(axis, value)} />${value}</label>`)}</details>`)}</div>
      <${PivotTable} table=${table} choice=${choice} /></section>
      <section><h2>Chart</h2><${BarChart} table=${table} choice=${choice} /></section>
      ${bad.length > 0 && html`<section><h2>${plural(bad.length, "run")} without a good result</h2><ul>${bad.map((run) => html`<li><strong>${run.label}</strong>: <span class=${`status-${run.status}`}>${run.status}</span> ${run.reason}</li>`)}</ul></section>`}
      <section><h2>All runs</h2><${Table} label="All runs" columns=${columns} rows=${SWEEP.runs} /></section></div>`;
}

render(html`<${SweepView} />`, document.getElementById("app"));
