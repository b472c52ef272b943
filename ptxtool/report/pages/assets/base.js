"use strict";
/* What every page has: its data, Preact, numbers as text, the theme, the tooltip, small charts. */
const { html, render, useState, useEffect, useMemo, useRef } = htmPreact;
const DATA = JSON.parse(document.getElementById("data").textContent);

/* ---- numbers */

const grouped = new Intl.NumberFormat("en-US");
const count = (n) => grouped.format(n);
function number(n, digits = 2) {
  if (typeof n !== "number") return String(n ?? "");
  return Number.isInteger(n) ? count(n) : new Intl.NumberFormat("en-US", { maximumFractionDigits: digits }).format(n);
}
const percent = (part, whole, digits = 1) => (whole ? `${((100 * part) / whole).toFixed(digits)}%` : "");
const signed = (n, digits = 1) => `${n > 0 ? "+" : n < 0 ? "−" : "±"}${Math.abs(n).toFixed(digits)}`;
const plural = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
const largest = (list) => list.reduce((a, b) => Math.max(a, b), 0);
const change = (now, before) => (before ? (100 * (now - before)) / before : null);

/* ---- the theme: the reader's choice, else the system's */

const systemTheme = matchMedia("(prefers-color-scheme: dark)");
function storedTheme() {
  try { return localStorage.getItem("ptxtool-theme"); } catch { return null; }
}
function applyTheme(theme = storedTheme()) {
  document.documentElement.dataset.theme = theme || (systemTheme.matches ? "dark" : "light");
  document.dispatchEvent(new Event("themechange"));
}
function toggleTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("ptxtool-theme", next); } catch { /* a page opened from a file may have no storage */ }
  applyTheme(next);
}
applyTheme();
systemTheme.addEventListener("change", () => applyTheme());
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const ThemeButton = () => html`<button type="button" onClick=${toggleTheme} title="Light or dark (t)">Theme</button>`;

/* ---- the tooltip: text only, for the mouse; what it says is in the panels too */

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = !text;
  if (!text) return;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
  tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
}
const hideTip = () => { tip.hidden = true; };

/* ---- elements that several pages have */

function Bar({ parts, whole, title }) {
  return html`<div class="bar" title=${title}>
    ${parts.map(([kind, n]) => n > 0 && html`<i class=${`k-${kind}`} style=${`width:${Math.min(100, (100 * n) / (whole || 1))}%`}></i>`)}
  </div>`;
}

function Tile({ name, value, note, onClick }) {
  const inner = html`<div class="k">${name}</div><div class="v">${value}</div><div class="n">${note}</div>`;
  return onClick ? html`<button type="button" class="tile" onClick=${onClick}>${inner}</button>` : html`<div class="tile">${inner}</div>`;
}

/* A table with columns [{ title, of(row), num }]; a click on a head sorts by it. */
function Table({ columns, rows, label, sortable = true, best }) {
  const [order, setOrder] = useState(null);
  const sorted = useMemo(() => {
    if (!order) return rows;
    const value = columns[order.column].by || columns[order.column].of;
    const rank = (v) => (v === null || v === undefined || v === "" ? -Infinity : v);
    return [...rows].sort((a, b) => {
      const [x, y] = [rank(value(a)), rank(value(b))];
      return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1);
    });
  }, [rows, order, columns]);
  const press = (column) => setOrder(order && order.column === column && order.down ? { column, down: false } : { column, down: true });
  return html`<div class="wide" tabindex="0" role="region" aria-label=${label}><table class="full">
    <thead><tr>${columns.map((c, k) => html`<th class=${c.num ? "num" : ""} scope="col"
      aria-sort=${order && order.column === k ? (order.down ? "descending" : "ascending") : undefined}>
      ${sortable && c.title ? html`<button type="button" class="link" onClick=${() => press(k)}>${c.title}</button>` : c.title || html`<span class="sr">bar</span>`}</th>`)}</tr></thead>
    <tbody>${sorted.map((row) => html`<tr class=${best && best(row) ? "best" : ""}>${columns.map((c) => html`<td class=${c.num ? "num" : ""}>${c.show ? c.show(row) : number(c.of(row))}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/* Tabs after the WAI-ARIA pattern: arrow keys move, one tab is in the order of focus. */
function Tabs({ tabs, chosen, choose, label, children }) {
  const press = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.findIndex(([key]) => key === chosen);
    const to = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : step ? (at + step + tabs.length) % tabs.length : null;
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    choose(tabs[to][0]);
    document.getElementById(`tab-${tabs[to][0]}`).focus();
  };
  return html`<div class="tabs"><div role="tablist" aria-label=${label} onKeyDown=${press}>
    ${tabs.map(([key, title]) => html`<button type="button" role="tab" id=${`tab-${key}`} aria-controls="panel" aria-selected=${key === chosen ? "true" : "false"}
      tabindex=${key === chosen ? 0 : -1} onClick=${() => choose(key)}>${title}</button>`)}
  </div>${children}</div>`;
}

/* A step chart of points [x, y, ...]: y holds from x to the next point. `at` marks a value of x. */
function StepChart({ points, at, label, x, y, most }) {
  const [w, h, left, bottom] = [460, 170, 34, 30];
  const last = points[points.length - 1][0], top = Math.max(most || 0, ...points.map((p) => p[1]), 1);
  const px = (v) => left + ((w - left - 10) * v) / (last || 1), py = (v) => 8 + (h - bottom - 8) * (1 - v / top);
  let path = "";
  points.forEach((p, k) => { path += k ? `H${px(p[0])}V${py(p[1])}` : `M${px(p[0])} ${py(p[1])}`; });
  const here = points.filter((p) => p[0] <= at).pop();
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((f) => Math.round(last * f));
  const move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const value = ((((event.clientX - box.left) * w) / box.width - left) * last) / (w - left - 10);
    const p = points.filter((q) => q[0] <= value).pop();
    showTip(event, p && value <= last ? `${Math.round(value)} ${x}: ${plural(p[1], y)}, ${p[2]} warps, limited by ${p[3]}` : "");
  };
  return html`<svg viewBox=${`0 0 ${w} ${h}`} role="img" aria-label=${label} onMouseMove=${move} onMouseLeave=${hideTip} style="width:100%;max-width:560px">
    ${[0, top / 2, top].map((v) => html`<line class="grid" x1=${left} x2=${w - 10} y1=${py(v)} y2=${py(v)} /><text x=${left - 6} y=${py(v) + 4} text-anchor="end">${number(v, 1)}</text>`)}
    ${ticks.map((v) => html`<text x=${px(v)} y=${h - 14} text-anchor="middle">${v}</text>`)}
    <text x=${(w + left) / 2} y=${h - 2} text-anchor="middle">${x}</text>
    <path d=${`${path}V${py(0)}H${px(points[0][0])}Z`} fill=${"var(--accent)"} opacity=".14" />
    <path d=${path} fill="none" stroke="var(--accent)" stroke-width="2" />
    ${here && html`<line x1=${px(at)} x2=${px(at)} y1="8" y2=${py(0)} stroke="var(--bad)" stroke-dasharray="4 3" /><circle cx=${px(at)} cy=${py(here[1])} r="4" fill="var(--bad)" />`}
  </svg>`;
}
