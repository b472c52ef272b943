/* The model of a text, and the pane that shows it: rows of a fixed height, of which only those in view exist. */

const ROW = 20, HEAD = 22, AROUND = 12;

/* ---- the model */

/* A text as rows. Instructions are numbered through all functions (`g`), the kernel's first. With the first text, rows
   of removed instructions (`gone`) stand where they were. */
function textModel(text, first) {
  const rows = [], rowOf = [], codes = [];
  const removed = first ? [...text.removed] : [];
  const gone = (before) => {
    while (removed.length && removed[0] < before) {
      const i = removed.shift();
      rows.push({ kind: "gone", text: first.functions[0].texts[i], line: first.functions[0].lines[i] });
    }
  };
  text.functions.forEach((fn, f) => {
    fn.first = codes.length;
    if (f) rows.push({ kind: "fn", text: fn.shown, fn: f });
    const starts = new Map(fn.blocks.map((block, b) => [block.start, b]));
    let depth = 0, block = 0;
    fn.texts.forEach((code, i) => {
      if (starts.has(i)) {
        block = starts.get(i);
        depth = fn.blocks[block].depth;
        for (const label of fn.blocks[block].labels) rows.push({ kind: "label", text: `${label}:`, fn: f, depth });
      }
      const pair = !f && first ? text.before[i] : -1;
      if (pair >= 0) gone(pair);
      rowOf.push(rows.length);
      codes.push({ fn: f, i, g: codes.length, block, line: fn.lines[i], text: code });
      rows.push({ kind: "code", fn: f, i, g: codes.length - 1, depth, line: fn.lines[i], text: code, change: f || !first ? "" : pair < 0 ? "added" : "" });
    });
    if (!f) gone(Infinity);
    fn.byName = new Map(fn.registers.map((r, k) => [r.name, k]));
  });
  if (first) for (const i of text.changed) rows[rowOf[i]].change = "changed";
  return { text, rows, rowOf, codes, functions: text.functions };
}

/* The pieces of an instruction: [class, text, register or null]. */
const PIECES = /(\/\/.*$)|("[^"]*")|([%$][\w$]+)|(0[xXfFdD][0-9a-fA-F]+|\b\d+(?:\.\d+)?\b)|([A-Za-z_][\w$]*(?:\.[\w:]+)*)|(\.[\w.:]+)|(\s+|.)/gs;
function pieces(text, fn) {
  const found = [];
  let opcode = false;
  for (const [all, comment, string, name, digits, word, directive] of text.matchAll(PIECES)) {
    if (name !== undefined) {
      const k = fn ? fn.byName.get(name) : undefined;
      found.push([k === undefined ? (name[0] === "$" ? "lab" : "dir") : "reg", all, k ?? null]);
    } else if (comment !== undefined) found.push(["com", all, null]);
    else if (string !== undefined || digits !== undefined) found.push(["num", all, null]);
    else if (word !== undefined) {
      const k = opcode && fn ? fn.byName.get(word) : undefined;
      found.push([k !== undefined ? "reg" : opcode ? "" : "op", all, k ?? null]);
      opcode = true;
    }
    else found.push([directive !== undefined ? "dir" : "", all, null]);
  }
  return found;
}

/* ---- the pane */

class CodePane {
  constructor(scroller, state) {
    this.scroller = scroller;
    this.state = state;
    this.shown = new Map();
    scroller.innerHTML = "";
    scroller.setAttribute("role", "grid");
    scroller.tabIndex = 0;
    this.head = element("div", "head");
    this.hold = element("div", "hold");
    this.hold.setAttribute("aria-hidden", "true");
    this.spacer = element("div", "spacer");
    this.spacer.setAttribute("role", "rowgroup");
    this.head.setAttribute("role", "rowgroup");
    scroller.append(this.head, this.hold, this.spacer);
    this.lanes = new Lanes(this.hold, scroller, state);
    scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    scroller.addEventListener("keydown", (event) => this.key(event));
    this.spacer.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.schedule()).observe(scroller);
    document.addEventListener("themechange", () => this.schedule());
    this.reset();
  }

  /* Another text, run or set of columns: all rows anew. */
  reset() {
    const { state } = this, { model } = state;
    this.model = model;
    this.columns = [["ln", "line"], ["nest", "loop"], ...(state.spots ? [["heat", "lost"]] : []), ...(state.delta ? [["diff", "change"]] : []), ["src", "instruction"], ["live", "live"]];
    const narrow = innerWidth <= 900;
    const longest = Math.min(narrow ? 46 : 110, model.rows.reduce((n, row) => Math.max(n, row.text.length + (row.kind === "code" && state.tags.has(row.g) ? 34 : 0)), 24));
    const em = this.em();
    const digits = String(largest(model.codes.map((code) => code.line))).length, marks = model.text.removed ? 2 : 0;
    this.widths = { ln: Math.max(4, digits + marks + 1) * em + 8, nest: 18, heat: narrow ? 62 : 92, diff: 52, src: longest * em + 8, live: 5 * em };
    /* the lanes stay in view beside the code: where both do not fit, long instructions are cut (their text is in the panel) */
    const others = this.columns.reduce((n, [c]) => n + (c === "src" ? 0 : this.widths[c]), 0);
    const room = this.scroller.clientWidth - others - Math.min(this.lanes.width(model), 0.36 * this.scroller.clientWidth) - 24;
    this.widths.src = Math.max(Math.min(this.widths.src, 30 * em), Math.min(this.widths.src, room));
    this.codeWidth = others + this.widths.src;
    this.lanes.layout(model, this.codeWidth);
    const width = `${this.codeWidth + this.lanes.width(model) + 24}px`;
    this.spacer.style.height = `${model.rows.length * ROW + HEAD}px`;
    this.spacer.style.width = this.head.style.width = width;
    this.head.style.minWidth = "100%";
    this.scroller.setAttribute("aria-rowcount", model.rows.length + 1);
    this.scroller.setAttribute("aria-label", `Instructions of ${model.functions[0].shown}`);
    const head = element("div", "row");
    head.setAttribute("role", "row");
    for (const [name, title] of this.columns) head.append(this.cell(name, title, "columnheader"));
    const lanesHead = element("span", "", "live registers, a lane each");
    lanesHead.setAttribute("role", "columnheader");
    head.append(lanesHead);
    this.head.replaceChildren(head);
    this.spacer.replaceChildren();
    this.shown.clear();
    this.draw();
  }

  em() {
    const probe = element("span", "", "0000000000");
    this.head.append(probe);
    const width = probe.getBoundingClientRect().width / 10;
    probe.remove();
    return width / (11 / 12.5) || 7.5;
  }

  schedule() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => { this.pending = 0; this.draw(); });
  }

  draw() {
    const { scroller, model } = this;
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - AROUND);
    const last = Math.min(model.rows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / ROW) + AROUND);
    for (const [r, row] of this.shown) if (r < first || r >= last) { row.remove(); this.shown.delete(r); }
    const fresh = document.createDocumentFragment();
    for (let r = first; r < last; r++) if (!this.shown.has(r)) { const row = this.row(r); this.shown.set(r, row); fresh.append(row); }
    this.spacer.append(fresh);
    this.lanes.draw(Math.floor(scroller.scrollTop / ROW), last);
    this.state.onView?.(scroller.scrollTop / ROW, (scroller.scrollTop + scroller.clientHeight - HEAD) / ROW);
  }

  cell(name, content, role = "gridcell") {
    const cell = element("span", name, content);
    cell.setAttribute("role", role);
    cell.style.width = `${this.widths[name]}px`;
    return cell;
  }

  row(r) {
    const { state, model } = this, row = model.rows[r], code = row.kind === "code";
    const line = element("div", `row is-${row.kind}`);
    line.id = `row-${r}`;
    line.setAttribute("role", "row");
    line.setAttribute("aria-rowindex", r + 2);
    line.style.transform = `translateY(${r * ROW}px)`;
    line.dataset.row = r;
    if (code) {
      const fn = model.functions[row.fn];
      if (row.i === fn.peak[state.per]) line.classList.add("peak");
      if (row.g === state.selected) { line.classList.add("here"); line.setAttribute("aria-selected", "true"); }
    }
    for (const [name] of this.columns) line.append(this[`_${name}`](row, name));
    return line;
  }

  _ln(row) {
    const mark = row.kind === "gone" ? ["minus", "−"] : row.change === "added" ? ["plus", "+"] : row.change === "changed" ? ["plus", "~"] : null;
    const cell = this.cell("ln", "");
    if (mark) cell.append(element("span", mark[0], `${mark[1]} `));
    cell.append(row.kind === "code" || row.kind === "gone" ? String(row.line) : "");
    return cell;
  }

  _nest(row) {
    const cell = this.cell("nest", "");
    for (let k = 0; k < Math.min(row.depth || 0, 4); k++) cell.append(element("i"));
    if (row.depth) cell.title = `loop depth ${row.depth}`;
    return cell;
  }

  _heat(row) {
    const cell = this.cell("heat", ""), { spots } = this.state;
    if (row.kind !== "code") return cell;
    const lost = spots.lost[row.g];
    if (!lost) return cell;
    cell.append(lost / spots.total >= 0.0005 ? percent(lost, spots.total) : "");
    const bar = element("span", "bar"), kinds = kindsOf(spots, row.g), most = this.state.mostLost;
    for (const kind of ["idle", "scoreboard", "stall"]) {
      const piece = element("i", `k-${kind}`);
      piece.style.width = `${(100 * kinds[kind]) / most}%`;
      bar.append(piece);
    }
    cell.append(bar);
    return cell;
  }

  _diff(row) {
    const cell = this.cell("diff", "");
    const delta = row.kind === "code" ? this.state.delta[row.g] : null;
    if (delta !== null && delta !== undefined && Math.abs(delta) >= 0.05) {
      cell.textContent = signed(delta);
      cell.classList.add(delta > 0 ? "bad" : "good");
      cell.title = "percent of all slots, more or fewer lost than in the run that it is compared with";
    }
    return cell;
  }

  _src(row) {
    const cell = this.cell("src", ""), { state } = this;
    const fn = row.kind === "code" ? this.model.functions[row.fn] : null;
    if (row.kind === "label") { cell.append(element("span", "lab", row.text)); return cell; }
    if (!fn) { cell.textContent = row.text; return cell; }
    for (const [kind, text, k] of pieces(row.text, fn)) {
      const piece = kind ? element("span", kind, text) : document.createTextNode(text);
      if (k !== null) {
        piece.dataset.register = k;
        if (state.pin && state.pin.fn === row.fn && state.pin.k === k) piece.classList.add("pin");
      }
      cell.append(piece);
    }
    cell.title = row.text;
    const tag = state.tags.get(row.g);
    if (tag) cell.append(element("span", `tag ${tag.kind}`, tag.text));
    return cell;
  }

  _live(row) {
    return this.cell("live", row.kind === "code" ? String(this.model.functions[row.fn][this.state.per][row.i]) : "");
  }

  /* Rows in view again, after the selection or the pinned register changed. */
  refresh() {
    for (const [r, row] of this.shown) { const fresh = this.row(r); row.replaceWith(fresh); this.shown.set(r, fresh); }
    if (this.state.selected !== null) this.scroller.setAttribute("aria-activedescendant", `row-${this.model.rowOf[this.state.selected]}`);
    this.lanes.draw();
  }

  reveal(g) {
    const y = this.model.rowOf[g] * ROW, { scrollTop, clientHeight } = this.scroller;
    if (y < scrollTop + ROW || y > scrollTop + clientHeight - HEAD - 2 * ROW) {
      this.scroller.scrollTop = Math.max(0, y - clientHeight / 3);
      this.draw();
    }
  }

  click(event) {
    const line = event.target.closest(".row");
    const row = line && this.model.rows[Number(line.dataset.row)];
    if (!row || row.kind !== "code") return;
    const { register } = event.target.dataset;
    const pin = register === undefined ? undefined : { fn: row.fn, k: Number(register) };
    this.state.select(row.g, pin);
  }

  key(event) {
    const page = Math.floor(this.scroller.clientHeight / ROW) - 2, n = this.model.codes.length;
    const at = this.state.selected ?? 0;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: n - 1 }[event.key];
    if (to === undefined || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.state.select(Math.max(0, Math.min(n - 1, to)));
  }
}

function element(tag, classes = "", text = "") {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  if (text) made.textContent = text;
  return made;
}

/* ---- figures of a run */

/* The slots lost at an instruction, by kind. */
function kindsOf(spots, g) {
  const kinds = { idle: 0, scoreboard: 0, stall: 0 }, of = spots.of[g];
  for (let k = 0; k < of.length; k += 2) kinds[DATA.reasons[of[k]].kind] += of[k + 1];
  return kinds;
}

/* The reasons of an instruction as [name, label, kind, slots], most first. */
function reasonsOf(spots, g) {
  const found = [], of = spots.of[g];
  for (let k = 0; k < of.length; k += 2) { const r = DATA.reasons[of[k]]; found.push([r.name, r.label, r.kind, of[k + 1]]); }
  return found.sort((a, b) => b[3] - a[3]);
}
