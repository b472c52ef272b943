/* Live registers as lanes: a column per live value, as wide as the 32-bit registers that it takes, coloured by class.

   A lane is used again when its value is dead, so that there are as many lanes as values live at once, and what is
   filled of a row is its pressure. */

const CLASSES = [["general", "w32"], ["16-bit", "w16"], ["8-bit", "w16"], ["32-bit", "w32"], ["64-bit", "w64"], ["128-bit", "w128"], ["address", "addr"], ["predicate", "pred"]];
const colourOf = (register) => (CLASSES.find(([name]) => name === register.class) || ["", "w128"])[1];
const unitsOf = (register) => Math.max(1, register.units);

/* The intervals of a function with their lanes: [{ k, from, to, lane, x, units }], and the width in units. `x` is the
   place of a lane in units; classes stand apart. */
function layLanes(fn) {
  if (fn.lanes) return fn.lanes;
  const bands = new Map();
  fn.registers.forEach((register, k) => {
    const key = `${CLASSES.findIndex(([name]) => name === register.class)}:${unitsOf(register)}`;
    if (!bands.has(key)) bands.set(key, []);
    for (let s = 0; s < register.live.length; s += 2) bands.get(key).push({ k, from: register.live[s], to: register.live[s + 1], units: unitsOf(register) });
  });
  const intervals = [];
  let x = 0;
  const keys = [...bands.keys()].sort((a, b) => parseInt(a, 10) - parseInt(b, 10) || a.localeCompare(b));
  for (const key of keys) {
    const ends = [], own = new Map(), band = bands.get(key).sort((a, b) => a.from - b.from || a.k - b.k);
    for (const interval of band) {
      let lane = own.get(interval.k);
      if (lane === undefined || ends[lane] >= interval.from) lane = ends.findIndex((end) => end < interval.from);
      if (lane < 0) lane = ends.push(-1) - 1;
      ends[lane] = interval.to;
      own.set(interval.k, lane);
      interval.x = x + lane * interval.units;
      intervals.push(interval);
    }
    x += ends.length * (band.length ? band[0].units : 1);
  }
  fn.lanes = { intervals, units: x };
  return fn.lanes;
}

class Lanes {
  constructor(hold, scroller, state) {
    this.scroller = scroller;
    this.state = state;
    this.canvas = document.createElement("canvas");
    hold.append(this.canvas);
    this.canvas.addEventListener("mousemove", (event) => this.hover(event));
    this.canvas.addEventListener("mouseleave", hideTip);
    this.canvas.addEventListener("click", (event) => this.press(event));
  }

  unit(model) {
    const units = Math.max(1, ...model.functions.map((fn) => layLanes(fn).units));
    return units <= 40 ? 8 : units <= 70 ? 6 : units <= 130 ? 4 : units <= 300 ? 3 : 2;
  }

  width(model) {
    return Math.max(24, this.unit(model) * Math.max(1, ...model.functions.map((fn) => layLanes(fn).units))) + 8;
  }

  /* Intervals by rows, in chunks, so that a frame looks at those near it only. */
  layout(model, left) {
    this.model = model;
    this.size = this.unit(model);
    this.chunks = new Map();
    this.canvas.style.left = `${left}px`;
    const add = (chunk, placed) => { if (!this.chunks.has(chunk)) this.chunks.set(chunk, []); this.chunks.get(chunk).push(placed); };
    model.functions.forEach((fn, f) => {
      for (const interval of layLanes(fn).intervals) {
        const top = model.rowOf[fn.first + interval.from], bottom = model.rowOf[fn.first + interval.to];
        const placed = { ...interval, fn: f, top, bottom, register: fn.registers[interval.k] };
        for (let chunk = top >> 6; chunk <= bottom >> 6; chunk++) add(chunk, placed);
      }
    });
  }

  inView(first, last) {
    const found = new Set();
    for (let chunk = first >> 6; chunk <= last >> 6; chunk++) for (const placed of this.chunks.get(chunk) || []) if (placed.bottom >= first && placed.top <= last) found.add(placed);
    return found;
  }

  draw() {
    const { scroller, canvas, model, size, state } = this;
    const ratio = devicePixelRatio || 1, w = this.width(model), h = Math.max(1, scroller.clientHeight - HEAD);
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
      canvas.style.width = `${w}px`;
      canvas.style.height = `${h}px`;
    }
    const pen = canvas.getContext("2d"), top = scroller.scrollTop;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, w, h);
    const colours = Object.fromEntries(["w32", "w64", "w16", "w128", "pred", "addr", "text", "bad", "accent", "line"].map((name) => [name, colour(name)]));
    const first = Math.floor(top / ROW), last = Math.min(model.rows.length - 1, Math.ceil((top + h) / ROW));
    for (let r = first; r <= last; r++) {
      const row = model.rows[r];
      if (row.kind === "code" && (row.g === state.selected || row.i === model.functions[row.fn].peak[state.per])) {
        pen.globalAlpha = 0.16;
        pen.fillStyle = row.g === state.selected ? colours.accent : colours.bad;
        pen.fillRect(0, r * ROW - top, w, ROW);
      }
    }
    for (const placed of this.inView(first, last)) this.value(pen, placed, colours, top, size);
    pen.globalAlpha = 1;
  }

  value(pen, placed, colours, scrolled, size) {
    const { state, model } = this, { register } = placed, fn = model.functions[placed.fn];
    const pinned = state.pin && state.pin.fn === placed.fn && state.pin.k === placed.k;
    const x = placed.x * size + 1, w = Math.max(1, placed.units * size - (size > 3 ? 2 : 1));
    const y = (r) => r * ROW - scrolled;
    const defined = register.defs.includes(placed.from);
    const begin = y(placed.top) + (defined ? 9 : 0), end = y(placed.bottom) + (register.uses.includes(placed.to) ? 14 : ROW);
    pen.fillStyle = colours[colourOf(register)];
    pen.globalAlpha = state.pin && !pinned ? 0.22 : pinned ? 1 : 0.5;
    pen.fillRect(x, begin, w, Math.max(3, end - begin));
    if (state.per === "thread" && register.waiting) {
      pen.globalAlpha = 1;
      for (let s = 0; s < register.waiting.length; s += 2) {
        const from = Math.max(register.waiting[s], placed.from), to = Math.min(register.waiting[s + 1], placed.to);
        if (from > to) continue;
        const rowFrom = model.rowOf[fn.first + from], rowTo = model.rowOf[fn.first + to];
        pen.clearRect(x, y(rowFrom), w, (rowTo - rowFrom + 1) * ROW);
      }
    }
    pen.globalAlpha = state.pin && !pinned ? 0.35 : 1;
    const mark = (i, height, dy) => { if (i >= placed.from && i <= placed.to) pen.fillRect(x, y(model.rowOf[fn.first + i]) + dy, w, height); };
    for (const i of register.defs) mark(i, 4, 8);
    pen.fillStyle = colours.text;
    pen.globalAlpha *= 0.75;
    for (const i of register.uses) mark(i, 2, 12);
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const r = Math.floor((event.clientY - box.top + this.scroller.scrollTop) / ROW), unit = Math.floor((event.clientX - box.left - 1) / this.size);
    for (const placed of this.inView(r, r)) if (unit >= placed.x && unit < placed.x + placed.units) return placed;
    return null;
  }

  hover(event) {
    const placed = this.at(event);
    showTip(event, placed ? describe(placed.register, this.model.functions[placed.fn]) : "");
  }

  press(event) {
    const placed = this.at(event);
    const box = this.canvas.getBoundingClientRect();
    const row = this.model.rows[Math.floor((event.clientY - box.top + this.scroller.scrollTop) / ROW)];
    if (row && row.kind === "code") this.state.select(row.g, placed ? { fn: placed.fn, k: placed.k } : undefined);
  }
}

/* A register in words: its class, and the lines that define and use it. */
function describe(register, fn) {
  const lines = (instructions) => {
    const found = [...new Set(instructions.map((i) => fn.lines[i]))];
    return found.length > 12 ? `${found.slice(0, 12).join(" ")} ... (${found.length})` : found.join(" ") || "nowhere";
  };
  return `${register.name}  ${register.class}${register.units ? `, ${plural(register.units, "register")}` : ""}\ndefined at lines ${lines(register.defs)}\nused at lines ${lines(register.uses)}`;
}

/* ---- the curve of the whole text */

class Overview {
  constructor(canvas, state) {
    this.canvas = canvas;
    this.state = state;
    const go = (event) => {
      const box = canvas.getBoundingClientRect();
      state.scrollTo(((event.clientX - box.left) / box.width) * state.model.rows.length);
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); go(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) go(event); this.hover(event); });
    canvas.addEventListener("pointerleave", hideTip);
    new ResizeObserver(() => this.draw()).observe(canvas);
    document.addEventListener("themechange", () => this.draw());
  }

  hover(event) {
    const { model, per, spots } = this.state, box = this.canvas.getBoundingClientRect();
    let r = Math.floor(((event.clientX - box.left) / box.width) * model.rows.length);
    while (r > 0 && model.rows[r]?.kind !== "code") r--;
    const row = model.rows[r];
    if (!row || row.kind !== "code") return showTip(event, "");
    const lost = spots ? `, ${percent(spots.lost[row.g], spots.total) || "0%"} of slots lost` : "";
    showTip(event, `line ${row.line}: ${plural(model.functions[row.fn][per][row.i], "live register")}${lost}\n${row.text}`);
  }

  /* Points of the curve: x and y in CSS pixels of a canvas of that size. */
  points(w, h) {
    const { model, per } = this.state;
    const most = Math.max(1, ...model.functions.map((fn) => largest(fn[per])));
    return model.codes.map((code) => [((model.rowOf[code.g] + 0.5) * w) / model.rows.length, h - (h * model.functions[code.fn][per][code.i]) / most]);
  }

  draw(from = this.from, to = this.to) {
    [this.from, this.to] = [from, to];
    const { canvas, state } = this, { model, spots } = state, ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w) return;
    if (!this.still || this.still.width !== Math.round(w * ratio) || this.drawn !== `${state.version} ${document.documentElement.dataset.theme}`) this.curve(w, h, ratio);
    canvas.width = this.still.width;
    canvas.height = this.still.height;
    const pen = canvas.getContext("2d");
    pen.drawImage(this.still, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const n = model.rows.length, x = (r) => (r * w) / n;
    if (from !== undefined && to - from < n) {
      pen.fillStyle = colour("accent");
      pen.globalAlpha = 0.13;
      pen.fillRect(x(from), 0, Math.max(4, x(to) - x(from)), h);
      pen.globalAlpha = 0.8;
      pen.strokeStyle = colour("accent");
      pen.strokeRect(x(from) + 0.5, 0.5, Math.max(4, x(to) - x(from)) - 1, h - 1);
    }
    if (state.selected !== null) {
      pen.globalAlpha = 1;
      pen.fillStyle = colour("accent");
      pen.fillRect(x(model.rowOf[state.selected] + 0.5) - 0.75, 0, 1.5, h);
    }
  }

  /* What does not change while a reader scrolls, drawn once. */
  curve(w, h, ratio) {
    const { state } = this, { model, spots, per } = state, below = spots ? 22 : 4, high = h - below - 4;
    const still = this.still = document.createElement("canvas");
    this.drawn = `${state.version} ${document.documentElement.dataset.theme}`;
    still.width = Math.round(w * ratio);
    still.height = Math.round(h * ratio);
    const pen = still.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 4 * ratio);
    const points = this.points(w, high), step = w / model.rows.length;
    pen.beginPath();
    pen.moveTo(points[0]?.[0] - step / 2 || 0, high);
    let held = high;
    for (const [x, y] of points) { pen.lineTo(x - step / 2, held); pen.lineTo(x - step / 2, y); pen.lineTo(x + step / 2, y); held = y; }
    pen.lineTo(w, high);
    pen.fillStyle = pen.strokeStyle = colour("w32");
    pen.globalAlpha = 0.28;
    pen.fill();
    pen.globalAlpha = 1;
    pen.stroke();
    for (const fn of model.functions) {
      if (fn.peak[per] === null) continue;
      const [x, y] = points[fn.first + fn.peak[per]];
      pen.fillStyle = colour("bad");
      pen.beginPath();
      pen.arc(x, Math.max(3, y), 3.5, 0, 7);
      pen.fill();
    }
    if (!spots) return;
    for (const code of model.codes) {
      const lost = spots.lost[code.g];
      if (!lost) continue;
      const kinds = kindsOf(spots, code.g);
      let y = h - 4;
      for (const kind of ["stall", "scoreboard", "idle"]) {
        const tall = (18 * kinds[kind]) / state.mostLost;
        pen.fillStyle = colour(kind);
        pen.fillRect(points[code.g][0] - step / 2, y - tall, Math.max(1, step - (step > 4 ? 1 : 0)), tall);
        y -= tall;
      }
    }
  }
}
