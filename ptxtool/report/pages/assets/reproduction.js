/* The page of an experiment: what the results say, and every table, ours beside the papers'. */

const FOUND = DATA.reproduction;
const KINDS = [["ours", 0], ...(FOUND.has_papers ? [["papers", 1]] : []), ...(FOUND.has_recorded ? [["recorded", 2]] : [])];
const AGREES = (finding) => (finding.agrees === null ? "" : finding.agrees ? "agrees" : "differs");

/* A number as the exhibit has it. */
function figure(exhibit, value) {
  if (value === null || value === undefined) return "-";
  const shown = Math.abs(value).toFixed(exhibit.digits), zero = Number(shown) === 0;
  return (value < 0 && !zero ? "−" : exhibit.signed ? "+" : "") + shown;
}

/* Ours over the papers'; null where one of the two is not there. */
const difference = (cell) => (cell && cell[0] !== null && cell[1] !== null ? cell[0] - cell[1] : null);

function Cell({ exhibit, cell, show, low, high }) {
  if (!cell) return html`<td></td>`;
  if (show === "difference") {
    const by = difference(cell);
    return html`<td class="num">${by === null ? html`<span class="soft">-</span>` : signed(by, exhibit.digits)}</td>`;
  }
  const kinds = KINDS.filter(([kind]) => show === "all" || kind === "ours"), span = high - low || 1;
  return html`<td class="num">${figure(exhibit, cell[0])}${kinds.some(([kind]) => kind === "papers") && cell[1] !== null && html` <span class="soft">(${figure(exhibit, cell[1])})</span>`}${kinds.some(([kind]) => kind === "recorded") && cell[2] !== null && html` [${figure(exhibit, cell[2])}]`}
    <div class="bars">${kinds.map(([kind, k]) => typeof cell[k] === "number" && html`<i class=${kind} style=${`left:${(100 * (Math.min(0, cell[k]) - low)) / span}%;width:${(100 * Math.abs(cell[k])) / span}%`}></i>`)}</div></td>`;
}

function ExhibitTable({ exhibit, words, show }) {
  const [order, setOrder] = useState(null);
  const numbers = exhibit.rows.flatMap(([, cells]) => cells.flatMap((cell) => cell || [])).filter((n) => n !== null);
  const low = Math.min(0, ...numbers), high = Math.max(0, ...numbers);
  const rank = (cells) => { const value = show === "difference" ? difference(cells[order.column]) : cells[order.column]?.[0]; return value ?? -Infinity; };
  const matching = exhibit.rows.filter(([row]) => row.toLowerCase().includes(words));
  const rows = order ? [...matching].sort((a, b) => (rank(b[1]) - rank(a[1]) || 0) * (order.down ? 1 : -1)) : matching;
  if (!rows.length) return html`<p class="soft">No ${exhibit.of_rows} with “${words}”.</p>`;
  return html`<div class="wide" tabindex="0" role="region" aria-label=${exhibit.title}><table class="full"><thead><tr><th scope="col"><button type="button" class="link" onClick=${() => setOrder(null)}>${exhibit.of_rows}</button></th>
    ${exhibit.columns.map((column, k) => html`<th scope="col" class="num" aria-sort=${order?.column === k ? (order.down ? "descending" : "ascending") : undefined}><button type="button" class="link" onClick=${() => setOrder({ column: k, down: !(order?.column === k && order.down) })}>${column}</button></th>`)}</tr></thead>
    <tbody>${rows.map(([row, cells]) => html`<tr><th scope="row">${row}</th>${cells.map((cell) => html`<${Cell} exhibit=${exhibit} cell=${cell} show=${show} low=${low} high=${high} />`)}</tr>`)}</tbody></table></div>`;
}

function ReproductionView() {
  const [words, setWords] = useState(""), [show, setShow] = useState("all"), [which, setWhich] = useState("");
  const search = useRef();
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
      if (event.key === "t") toggleTheme();
      else if (event.key === "/") { event.preventDefault(); search.current.focus(); }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const judged = FOUND.findings.filter((f) => f.agrees !== null), agreeing = judged.filter((f) => f.agrees).length, wanted = words.trim().toLowerCase();
  const columns = [{ title: "question", of: (f) => f.question }, ...(judged.length ? [{ title: "agrees?", of: AGREES, show: (f) => html`<span class=${f.agrees ? "good" : "bad"}>${AGREES(f)}</span>` }] : []), { title: "ours", of: (f) => f.ours }, ...(FOUND.has_papers ? [{ title: "papers", of: (f) => f.paper }] : []), ...(FOUND.has_recorded ? [{ title: "recorded", of: (f) => f.recorded }] : [])];
  const findings = FOUND.findings.filter((f) => (!which || AGREES(f) === which) && f.question.toLowerCase().includes(wanted));
  return html`<header class="top"><div class="title"><h1>${FOUND.title}</h1><div class="soft">${FOUND.gpu}${FOUND.has_papers && ", ours beside what the papers print"}</div></div><div class="tools"><${ThemeButton} /></div></header>
    <div class="tiles"><${Tile} name="Runs" value=${count(FOUND.runs)} note=${FOUND.complete ? "all have ended" : "interrupted: the same command goes on"} />
      ${judged.length > 0 && html`<${Tile} name="Findings that agree" value=${`${agreeing} / ${judged.length}`} note="in the shape of the results" onClick=${() => setWhich(which ? "" : "differs")} />`}
      <${Tile} name="Runs without a result" value=${count(FOUND.failures.length)} note=${FOUND.failures.length ? "listed at the end" : "every run has one"} /></div>
    <div class="plain"><section>${FOUND.sources.map((source) => html`<p class="soft">${source}</p>`)}
      <div class="controls"><label>Rows with <input ref=${search} type="search" placeholder="hotspot" value=${words} onInput=${(e) => setWords(e.target.value)} /></label>
        ${FOUND.has_papers && html`<label>Show <select value=${show} onChange=${(e) => setShow(e.target.value)}><option value="all">ours (papers)${FOUND.has_recorded ? " [recorded]" : ""}</option><option value="ours">ours</option><option value="difference">ours minus papers</option></select></label>`}
        ${judged.length > 0 && html`<label>Findings <select value=${which} onChange=${(e) => setWhich(e.target.value)}><option value="">all</option><option value="differs">that differ</option><option value="agrees">that agree</option></select></label>`}</div>
      <div class="legend">${KINDS.map(([kind]) => html`<span><i class=${kind}></i>${kind}</span>`)}<span>The head of a column sorts by ours.</span></div>
      <nav aria-label="Tables">${FOUND.exhibits.map((exhibit) => html`<a href=${`#${exhibit.key}`}>${exhibit.title}</a>`)}</nav></section>
      <section><h2>${FOUND.has_papers ? "Do the results have the papers' shape?" : "What the results say"}</h2><${Table} label="Findings" columns=${columns} rows=${findings} /></section>
      ${FOUND.exhibits.map((exhibit) => html`<section id=${exhibit.key}><h2>${exhibit.title}</h2><p class="soft">${[`${exhibit.quantity} (${exhibit.place})`, ...exhibit.notes].join("; ")}</p><${ExhibitTable} key=${exhibit.key} exhibit=${exhibit} words=${wanted} show=${show} /></section>`)}
      ${FOUND.failures.length > 0 && html`<section><h2>Runs without a result</h2><ul>${FOUND.failures.map((f) => html`<li><strong>${f.row}, ${f.scheme}</strong>: ${f.reason}</li>`)}</ul></section>`}</div>`;
}

render(html`<${ReproductionView} />`, document.getElementById("app"));
