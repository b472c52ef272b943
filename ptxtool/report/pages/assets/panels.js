/* The panels beside the code: what is shown of the chosen instruction, of a run, and of several runs. */

const lineButton = (state, g, text) => html`<button type="button" class="link" onClick=${() => state.select(g)}>${text ?? state.model.codes[g].line}</button>`;

/* ---- the chosen instruction */

function InstructionPanel({ state }) {
  const { model, spots, selected, per } = state;
  if (selected === null) return html`<p class="soft">Choose an instruction: click one, or focus the code and use the arrow keys.</p>`;
  const code = model.codes[selected], fn = model.functions[code.fn], place = fn.cuda.length && fn.cuda[code.i] >= 0 ? fn.places[fn.cuda[code.i]] : null;
  const rejoin = fn.divergent[code.i];
  const roles = new Map();
  fn.registers.forEach((register, k) => {
    const role = [register.defs.includes(code.i) && "defined", register.uses.includes(code.i) && "used"].filter(Boolean).join(", ");
    if (role) roles.set(k, role);
  });
  const through = liveAt(fn, code.i, per).filter((k) => !roles.has(k));
  return html`
    <div class="quote">${code.text}</div>
    <p class="soft">line ${code.line}, block B${code.block}${fn.blocks[code.block].depth ? `, loop depth ${fn.blocks[code.block].depth}` : ""}${code.fn ? `, in ${fn.shown}` : ""}
      ${place && html`<br />CUDA ${place.name}${place.calls.length ? `, inlined at ${place.calls.join(", ")}` : ""}`}
      ${rejoin !== undefined && html`<br /><span class="warn">Lanes may part here; they rejoin ${rejoin < fn.lines.length ? lineButton(state, fn.first + rejoin, `at line ${fn.lines[rejoin]}`) : "at the end"}.</span>`}</p>
    <h2>${plural(fn[per][code.i], "live register")} of ${fn[per][fn.peak[per]]} at the peak (${lineButton(state, fn.first + fn.peak[per], `line ${fn.lines[fn.peak[per]]}`)})</h2>
    <p class="soft">${plural(fn.thread[code.i], "32-bit register")} of a thread, ${fn.warp[code.i]} of a warp, ${plural(fn.predicates[code.i], "predicate")}.</p>
    ${roles.size > 0 && html`<${Registers} state=${state} fn=${fn} f=${code.fn} rows=${[...roles].map(([k, role]) => [k, role])} />`}
    ${through.length > 0 && html`<h3>Live through this instruction (${through.length})</h3>
      <div class="chips">${through.slice(0, 200).map((k) => html`<${Chip} state=${state} f=${code.fn} k=${k} register=${fn.registers[k]} fn=${fn} />`)}${through.length > 200 && html`<span class="soft">and ${through.length - 200} more</span>`}</div>`}
    ${state.pin && html`<${Pinned} state=${state} />`}
    ${spots && html`<${InstructionFigures} state=${state} code=${code} fn=${fn} />`}`;
}

/* The registers that are live before an instruction. */
function liveAt(fn, i, per) {
  const inside = (spans) => { for (let s = 0; s < spans.length; s += 2) if (spans[s] <= i && i <= spans[s + 1]) return spans[s]; return -1; };
  const found = [];
  fn.registers.forEach((register, k) => {
    const from = inside(register.live);
    if (from < 0 || (from === i && register.defs.includes(i))) return;
    if (per === "thread" && register.waiting && inside(register.waiting) >= 0) return;
    found.push(k);
  });
  return found;
}

function Chip({ state, f, k, register, fn }) {
  const pinned = Boolean(state.pin && state.pin.fn === f && state.pin.k === k);
  return html`<button type="button" class="chip" aria-pressed=${String(pinned)} style=${`border-left-color:var(--${colourOf(register)})`} title=${describe(register, fn)}
    onClick=${() => state.pinRegister(pinned ? null : { fn: f, k })}>${register.name}</button>`;
}

function LineList({ state, fn, instructions }) {
  const shown = instructions.slice(0, 10);
  return html`${shown.map((i) => html`${lineButton(state, fn.first + i, fn.lines[i])} `)}${instructions.length > 10 && html`<span class="soft">(${instructions.length})</span>`}${!instructions.length && html`<span class="soft">nowhere</span>`}`;
}

function Registers({ state, fn, f, rows }) {
  return html`<table class="full"><thead><tr><th scope="col">register</th><th scope="col">class</th><th scope="col">here</th><th scope="col">defined at</th><th scope="col">used at</th></tr></thead>
    <tbody>${rows.map(([k, role]) => html`<tr><td><${Chip} state=${state} f=${f} k=${k} register=${fn.registers[k]} fn=${fn} /></td><td style="white-space:nowrap">${fn.registers[k].class}</td><td>${role}</td>
      <td><${LineList} state=${state} fn=${fn} instructions=${fn.registers[k].defs} /></td><td><${LineList} state=${state} fn=${fn} instructions=${fn.registers[k].uses} /></td></tr>`)}</tbody></table>`;
}

function Pinned({ state }) {
  const fn = state.model.functions[state.pin.fn], register = fn.registers[state.pin.k];
  return html`<h3>Pinned register</h3><${Registers} state=${state} fn=${fn} f=${state.pin.fn} rows=${[[state.pin.k, "pinned"]]} />
    <p><button type="button" onClick=${() => state.step(-1)}>Previous place <kbd>[</kbd></button> <button type="button" onClick=${() => state.step(1)}>Next place <kbd>]</kbd></button>
    <span class="soft"> of ${register.name}</span></p>`;
}

function InstructionFigures({ state, code, fn }) {
  const { spots, model } = state, g = code.g, issues = spots.issues[g], reasons = reasonsOf(spots, g), lost = spots.lost[g];
  const per = (n, of) => (of ? n / of : 0), loads = spots.hits[g] + spots.misses[g] + spots.pending_hits[g];
  /* a warp that waits for a register waits for what defined it: the last definitions before, by what they caused */
  const waits = reasons.some(([, , kind]) => kind === "scoreboard")
    ? [...new Set(fn.registers.flatMap((register) => (register.uses.includes(code.i) ? register.defs : [])))].map((i) => fn.first + i).filter((d) => spots.caused[d]).sort((a, b) => spots.caused[b] - spots.caused[a]).slice(0, 3)
    : [];
  const rows = [
    ["issues", count(issues)],
    ["lanes per issue", number(per(spots.lanes[g], issues), 1)],
    ["issues that split their warp", count(spots.divergent[g])],
    ["slots lost here", `${count(lost)} (${percent(lost, spots.total) || "0%"})`],
    ["slots it caused elsewhere", `${count(spots.caused[g])} (${percent(spots.caused[g], spots.total) || "0%"})`],
  ];
  if (spots.memory[g]) rows.push(["accesses per issue", number(per(spots.transactions[g], spots.memory[g]), 2)]);
  if (loads) rows.push(["hit rate", percent(spots.hits[g], loads)]);
  return html`<h3>In the run “${state.run.name}”</h3>
    <table class="full"><tbody>${rows.map(([k, v]) => html`<tr><th scope="row">${k}</th><td class="num">${v}</td></tr>`)}</tbody></table>
    ${reasons.length > 0 && html`<h3>Why slots were lost here</h3><${ReasonTable} rows=${reasons} whole=${lost} />`}
    ${waits.length > 0 && html`<h3>What it may wait for</h3><ul>${waits.map((d) => html`<li>${lineButton(state, d, `line ${model.codes[d].line}`)} <code>${model.codes[d].text}</code>: caused ${count(spots.caused[d])} lost slots</li>`)}</ul>`}`;
}

function ReasonTable({ rows, whole }) {
  return html`<table class="full"><thead><tr><th scope="col">reason</th><th scope="col" class="num">slots</th><th scope="col" class="num">share</th><th scope="col"><span class="sr">bar</span></th></tr></thead>
    <tbody>${rows.map(([name, label, kind, n]) => html`<tr><td title=${`${name}: ${kind}`}>${label}</td><td class="num">${count(n)}</td><td class="num">${percent(n, whole)}</td><td><${Bar} parts=${[[kind, n]]} whole=${rows[0][3]} /></td></tr>`)}</tbody></table>`;
}

/* ---- where slots went */

function StallsPanel({ state }) {
  const { run, spots, base } = state;
  if (!spots) return html`<${NoRun} />`;
  const labels = new Map(DATA.reasons.map((r) => [r.name, r]));
  const other = base && base.hotspots;
  const names = new Set([...Object.keys(spots.reasons), ...(other ? Object.keys(other.reasons) : [])]);
  const rows = [...names].map((name) => ({ name, label: labels.get(name).label, kind: labels.get(name).kind, n: spots.reasons[name] || 0, before: other ? other.reasons[name] || 0 : 0 })).sort((a, b) => b.n - a.n);
  const columns = [
    { title: "reason", of: (r) => r.label },
    { title: "slots", num: true, of: (r) => r.n },
    { title: "share", num: true, of: (r) => r.n, show: (r) => percent(r.n, spots.total) || "0%" },
    ...(other ? [{ title: "change", num: true, of: (r) => r.n / spots.total - r.before / other.total, show: (r) => html`<${Change} value=${100 * (r.n / spots.total - r.before / other.total)} unit="" />` }] : []),
    { title: "", of: (r) => r.n, show: (r) => html`<${Bar} parts=${[[r.kind, r.n]]} whole=${rows[0].n} />` },
  ];
  return html`<h2>${percent(spots.issued, spots.total)} of ${count(spots.total)} slots issued</h2>
    <${KindBar} kinds=${spots.kinds} whole=${spots.total} />
    <p class="soft">A slot is a scheduler in a cycle. What issued nothing has a reason, and an instruction that it is charged to.${other ? ` Changes are in percent of all slots, against “${base.name}”.` : ""}</p>
    <${Table} label="Reasons" columns=${columns} rows=${rows} />
    <${Ranking} state=${state} title="Slots are lost at" field="lost" />
    <${Ranking} state=${state} title="Caused by" field="caused" note="Other instructions waited for the result of these, or queued after them." />
    ${run.stall_points.length > 0 && html`<h3>Non-owner warps stopped at</h3><ul>${run.stall_points.map((p) => html`<li>line ${p.line}: <code>${p.text}</code> (${plural(p.warps, "warp")}, ${count(p.warp_cycles)} warp-cycles)</li>`)}</ul>`}`;
}

function KindBar({ kinds, whole }) {
  const order = ["issued", "stall", "scoreboard", "idle"];
  return html`<div role="img" aria-label=${order.map((k) => `${k} ${percent(kinds[k], whole)}`).join(", ")}><div class="bar" style="height:16px">${order.map((k) => kinds[k] > 0 && html`<i class=${`k-${k}`} style=${`width:${(100 * kinds[k]) / whole}%`}></i>`)}</div></div>
    <div class="legend">${order.map((k) => html`<span><i class=${`k-${k}`}></i>${k} ${percent(kinds[k], whole) || "0%"}</span>`)}</div>`;
}

function Ranking({ state, title, field, note }) {
  const { spots, model } = state;
  const top = spots[field].map((n, g) => [n, g]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).slice(0, 10);
  if (!top.length) return null;
  return html`<h3>${title}</h3>${note && html`<p class="soft">${note}</p>`}<table class="full"><tbody>${top.map(([n, g]) => html`<tr><td>${lineButton(state, g, `line ${model.codes[g].line}`)}</td><td><code>${model.codes[g].text}</code>
    ${field === "lost" && html`<br /><span class="soft">${reasonsOf(spots, g).slice(0, 2).map(([, label, , k]) => `${label} ${percent(k, n, 0)}`).join(", ")}</span>`}</td><td class="num">${percent(n, spots.total)}</td></tr>`)}</tbody></table>`;
}

const NoRun = () => html`<p class="soft">No run is in this page. With a launch (a launch file beside the kernel, <code>--launch FILE</code>, or <code>--grid</code>, <code>--block</code> and <code>--arg</code>) the kernel is simulated, and this panel shows where its time goes.</p>`;

const Change = ({ value, unit = "%", digits = 1, good = -1 }) =>
  value === null || !Number.isFinite(value) ? "" : html`<span class=${Math.abs(value) < 0.05 ? "soft" : value * good > 0 ? "good" : "bad"}>${signed(value, digits)}${unit}</span>`;

/* ---- memory */

function MemoryPanel({ state }) {
  const { run, spots, model } = state;
  if (!run) return html`<${NoRun} />`;
  const { l1, l2, dram, core } = run, asked = l1.hits + l1.misses + l1.pending_hits;
  const rows = [
    ["L1 hit rate of loads", percent(l1.hits, asked) || "-", `${count(asked)} accesses, ${count(l1.reservation_fails)} refused`],
    ["L2 hit rate", percent(l2.hits, l2.accesses) || "-", `${count(l2.accesses)} accesses`],
    ["DRAM row hits", percent(dram.row_hits, dram.requests) || "-", `${count(dram.reads)} reads, ${count(dram.writes)} writes`],
    ["Bank conflicts", count(core.bank_conflict_cycles), `cycles, of ${count(core.shared_accesses)} accesses of shared memory`],
  ];
  const memory = spots ? spots.memory.map((n, g) => ({ g, n })).filter(({ n }) => n) : [];
  const loads = (g) => spots.hits[g] + spots.misses[g] + spots.pending_hits[g];
  const columns = [
    { title: "line", of: ({ g }) => model.codes[g].line, show: ({ g }) => lineButton(state, g) },
    { title: "instruction", of: ({ g }) => model.codes[g].text, show: ({ g }) => html`<code>${model.codes[g].text}</code>` },
    { title: "accesses per issue", num: true, of: ({ g, n }) => spots.transactions[g] / n, show: ({ g, n }) => html`<span class=${spots.transactions[g] / n >= 2 ? "bad" : ""}>${number(spots.transactions[g] / n, 2)}</span>` },
    { title: "hit rate", num: true, of: ({ g }) => (loads(g) ? spots.hits[g] / loads(g) : -1), show: ({ g }) => percent(spots.hits[g], loads(g), 0) },
    { title: "lost", num: true, of: ({ g }) => spots.lost[g], show: ({ g }) => percent(spots.lost[g], spots.total) },
    { title: "caused", num: true, of: ({ g }) => spots.caused[g], show: ({ g }) => percent(spots.caused[g], spots.total) },
  ];
  return html`<h2>Memory of the whole run</h2>
    <table class="full"><tbody>${rows.map(([k, v, note]) => html`<tr><th scope="row">${k}</th><td class="num"><strong>${v}</strong></td><td class="soft">${note}</td></tr>`)}</tbody></table>
    ${memory.length > 0 && html`<h3>Instructions</h3><p class="soft">Accesses per issue: lines or segments of caches, cycles of the banks of shared memory. 1 is coalesced, or free of bank conflicts.</p><${Table} label="Memory instructions" columns=${columns} rows=${memory} />`}`;
}

/* ---- occupancy, and what would change it */

function OccupancyPanel({ state }) {
  const found = state.kernel.occupancy;
  if (found.reason) return html`<p class="soft">${found.reason}</p>`;
  const limits = Object.entries(found.limits);
  return html`<h2>${plural(found.resident_ctas, "resident CTA")}, limited by ${found.all_limiters.join(" and ")}</h2>
    <p>${found.active_warps} of ${found.max_warps} warps (${Math.round(100 * found.occupancy)}%) on an SM of ${found.gpu}. A CTA has ${plural(found.threads, "thread")}, ${found.registers} registers per thread (${found.registers_from}) and ${count(found.scratchpad)} bytes of shared memory.</p>
    <table class="full"><thead><tr><th scope="col">resource</th><th scope="col" class="num">CTAs it admits</th><th scope="col"><span class="sr">bar</span></th></tr></thead><tbody>${limits.map(([name, n]) => html`<tr class=${found.all_limiters.includes(name) ? "best" : ""}><td>${name === "scratchpad" ? "shared memory" : name}</td><td class="num">${n ?? "-"}</td><td><${Bar} parts=${[[found.all_limiters.includes(name) ? "stall" : "soft", n ?? 0]]} whole=${Math.max(...limits.map(([, m]) => m ?? 0))} /></td></tr>`)}</tbody></table>
    <h3>Resident CTAs over registers per thread</h3><${StepChart} points=${found.register_curve} at=${found.registers} x="registers" y="CTA" label=${`Resident CTAs over registers per thread; now ${found.registers} registers and ${found.resident_ctas} CTAs`} />
    <h3>Resident CTAs over bytes of shared memory</h3><${StepChart} points=${found.scratchpad_curve} at=${found.scratchpad} x="bytes" y="CTA" label=${`Resident CTAs over bytes of shared memory; now ${found.scratchpad} bytes and ${found.resident_ctas} CTAs`} />`;
}

function WhatIfPanel({ state }) {
  const found = state.kernel.occupancy;
  if (found.reason) return html`<p class="soft">${found.reason}</p>`;
  const most = Math.max(found.resident_ctas, ...found.changes.map((c) => c.ctas || 0));
  return html`<h2>What would change the ${plural(found.resident_ctas, "resident CTA")}</h2>
    <p class="soft">Plans, without a run: to see what they do to the time, add a run, such as <code>ptxtool page FILE scheme=finereg</code>.</p>
    <table class="full"><thead><tr><th scope="col">change</th><th scope="col" class="num">CTAs</th><th scope="col" style="width:25%"><span class="sr">bar</span></th></tr></thead><tbody>
      <tr class="best"><td>as it is, ${found.active_warps} warps</td><td class="num">${found.resident_ctas}</td><td><${Bar} parts=${[["accent", found.resident_ctas]]} whole=${most} /></td></tr>
      ${found.changes.map((c) => html`<tr><td><strong>${c.what}</strong> <code class="soft">${c.command}</code><br /><span class="soft">${c.reason ? `not here: ${c.reason}` : c.note}</span></td>
        <td class="num">${c.ctas ?? "-"}${c.ctas !== undefined && c.ctas !== found.resident_ctas && html` <${Change} value=${c.ctas - found.resident_ctas} unit="" digits=${0} good=${1} />`}</td>
        <td>${c.ctas !== undefined && html`<${Bar} parts=${[[c.ctas > found.resident_ctas ? "issued" : "soft", c.ctas]]} whole=${most} />`}</td></tr>`)}
    </tbody></table>`;
}

/* ---- runs side by side */

const FIGURES = [
  ["cycles", (r) => r.counters.cycles, -1],
  ["thread IPC", (r) => r.counters.thread_ipc, 1],
  ["warp instructions", (r) => r.counters.warp_instructions, 0],
  ["registers per thread", (r) => r.counters.registers, 0],
  ["resident CTAs", (r) => r.counters.resident_ctas, 1],
  ["slots issued, %", (r) => (r.hotspots ? (100 * r.hotspots.issued) / r.hotspots.total : null), 1],
  ["stall, %", (r) => (r.hotspots ? (100 * r.hotspots.kinds.stall) / r.hotspots.total : null), -1],
  ["scoreboard, %", (r) => (r.hotspots ? (100 * r.hotspots.kinds.scoreboard) / r.hotspots.total : null), -1],
  ["idle, %", (r) => (r.hotspots ? (100 * r.hotspots.kinds.idle) / r.hotspots.total : null), -1],
  ["L1 hits, %", (r) => { const n = r.l1.hits + r.l1.misses + r.l1.pending_hits; return n ? (100 * r.l1.hits) / n : null; }, 1],
  ["DRAM requests", (r) => r.dram.requests, -1],
  ["bank conflict cycles", (r) => r.core.bank_conflict_cycles, -1],
  ["energy, µJ", (r) => r.energy, -1],
];

function RunsPanel({ state }) {
  const { runs, refused = [] } = state.kernel;
  if (!runs.length) return html`<${NoRun} />`;
  const about = [["machine", (r) => r.counters.gpu], ["scheduler", (r) => r.counters.scheduler], ["limited by", (r) => r.counters.limiter], ["results", (r) => r.verdict]];
  const rows = about.length + FIGURES.length;
  return html`<h2>${plural(runs.length, "run")}${refused.length > 0 && `, ${refused.length} refused`}</h2>
    ${runs.length + refused.length === 1 && html`<p class="soft">More runs stand side by side: <code>ptxtool page FILE scheme=finereg passes=allocate:max-regs=20</code></p>`}
    <div class="wide" tabindex="0" role="region" aria-label="Runs side by side"><table class="full"><thead><tr><th scope="col"></th>${runs.map((r, k) => html`<th scope="col" class="num"><button type="button" class="link" aria-pressed=${String(k === state.runIndex)} onClick=${() => state.show({ runIndex: k })}>${r.name}</button></th>`)}${refused.map((r) => html`<th scope="col">${r.name}</th>`)}</tr></thead>
      <tbody>${about.map(([name, of], k) => html`<tr><th scope="row">${name}</th>${runs.map((r) => html`<td class="num" style="white-space:normal">${of(r)}</td>`)}
        ${k === 0 && refused.map((r) => html`<td class="refused" rowspan=${rows}><strong>refused</strong> (${r.code})<br />${r.reason}${r.help && html`<br /><span class="soft">${r.help}</span>`}</td>`)}</tr>`)}
      ${FIGURES.map(([name, of, good]) => html`<tr><th scope="row">${name}</th>${runs.map((r, k) => { const v = of(r), d = k && v !== null && of(runs[0]) !== null ? change(v, of(runs[0])) : null; return html`<td class="num">${v === null ? "-" : number(v)}${k > 0 && d !== null && html`<br />${good ? html`<${Change} value=${d} good=${good} />` : html`<span class="soft">${signed(d)}%</span>`}`}</td>`; })}</tr>`)}</tbody></table></div>
    ${runs.map((r) => r.problems.map((p) => html`<p class="bad">${r.name}: ${p}</p>`))}
    ${runs.flatMap((r) => r.remarks.map((p) => html`<p class="soft">${r.name}: ${p}</p>`))}
    ${state.model.text.removed && html`<h3>The text of this run</h3><p>${plural(state.model.text.before.filter((b) => b < 0).length, "instruction")} added, ${state.model.text.removed.length} removed, ${state.model.text.changed.length} changed (marked in the code).</p>`}`;
}

function DiagnosticsPanel({ state }) {
  const { diagnostics, n_diagnostics } = state.kernel;
  if (!diagnostics.length) return html`<p class="good">No errors, no warnings.</p>`;
  return html`<h2>${plural(n_diagnostics, "diagnostic")}</h2>${diagnostics.map((d) => html`<div class=${`diagnostic ${d.severity}`}>${d.rendered}</div>`)}
    ${n_diagnostics > diagnostics.length && html`<p class="soft">and ${n_diagnostics - diagnostics.length} more: <code>ptxtool check</code> has all</p>`}`;
}

/* ---- CUDA lines */

/* Per CUDA line: its instructions and lost slots; with the source, the lines between as well. */
function cudaLines(state) {
  const files = new Map();
  for (const fn of state.model.functions) fn.cuda.forEach((k, i) => {
    if (k < 0) return;
    const { path, line } = fn.places[k];
    if (!files.has(path)) files.set(path, new Map());
    const lines = files.get(path);
    if (!lines.has(line)) lines.set(line, { line, instructions: [], lost: 0 });
    const entry = lines.get(line);
    entry.instructions.push(fn.first + i);
    if (state.spots) entry.lost += state.spots.lost[fn.first + i];
  });
  for (const [path, texts] of Object.entries(state.model.text.sources)) for (const [line, text] of texts) {
    const lines = files.get(path);
    if (lines && lines.has(line)) lines.get(line).text = text;
    else if (lines) lines.set(line, { line, text, instructions: [], lost: 0 });
  }
  return [...files].map(([path, lines]) => [path, [...lines.values()].sort((a, b) => a.line - b.line)]);
}

function CudaPanel({ state }) {
  const files = useMemo(() => cudaLines(state), [state.model, state.spots]);
  const code = state.selected === null ? null : state.model.codes[state.selected], fn = code && state.model.functions[code.fn];
  const place = fn && fn.cuda.length && fn.cuda[code.i] >= 0 ? fn.places[fn.cuda[code.i]] : null;
  const list = useRef();
  useEffect(() => {
    const here = list.current.querySelector(".here"), box = list.current;
    if (here && (here.offsetTop < box.scrollTop || here.offsetTop > box.scrollTop + box.clientHeight - 40)) box.scrollTop = here.offsetTop - box.clientHeight / 3;
  }, [place]);
  return html`<div class="cudalines" ref=${list} style="position:relative" tabindex="0" role="region" aria-label="CUDA source lines">${files.map(([path, lines]) => html`<h3>${path.split(/[\\/]/).pop()}</h3>
    ${lines.map((entry) => entry.instructions.length
      ? html`<button type="button" class=${place && place.path === path && place.line === entry.line ? "here" : ""} onClick=${() => state.selectNext(entry.instructions)} title=${`${plural(entry.instructions.length, "instruction")}: click again for the next`}>
          <span class="no">${entry.line}</span><span class="share">${state.spots ? percent(entry.lost, state.spots.total) : `${entry.instructions.length}×`}</span><span>${entry.text ?? ""}</span></button>`
      : html`<div class="off"><span class="no">${entry.line}</span><span class="share"></span><span>${entry.text}</span></div>`)}`)}</div>`;
}
