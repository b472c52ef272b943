/* The control-flow graph: blocks in the order of the text; forward edges at the right, back edges at the left, loops as
   brackets; branches at which lanes may part are marked. */

const NODE = { w: 190, h: 40, gap: 18 };

/* Where edges run: each gets the innermost track that no edge over the same blocks uses. Falls to the next are straight. */
function routes(fn) {
  const n = fn.blocks.length, forward = [], back = [];
  fn.edges.forEach(([from, to, kind], e) => {
    if (to === from + 1 && to < n) return;
    const end = Math.min(to, n);
    (end > from ? forward : back).push({ e, from, to: end, kind, low: Math.min(from, end), high: Math.max(from, end) });
  });
  const settle = (edges) => {
    const tracks = [];
    edges.sort((a, b) => a.high - a.low - (b.high - b.low) || a.low - b.low);
    for (const edge of edges) {
      let track = tracks.findIndex((used) => used.every((other) => other.high <= edge.low || other.low >= edge.high));
      if (track < 0) track = tracks.push([]) - 1;
      tracks[track].push(edge);
      edge.track = track;
    }
    return tracks.length;
  };
  return { forward, back, right: settle(forward), left: settle(back) };
}

function Graph({ state, f }) {
  const { model, spots } = state, fn = model.functions[f], n = fn.blocks.length;
  const { forward, back, right, left } = useMemo(() => routes(fn), [fn]);
  const depth = Math.max(0, ...fn.loops.map((loop) => loop.depth));
  const lane = Math.max(4, Math.min(12, 240 / Math.max(1, Math.max(left, right))));
  const x0 = 16 + depth * 8 + left * lane, width = x0 + NODE.w + right * lane + 26;
  const y = (b) => 8 + b * (NODE.h + NODE.gap), height = y(n) + 34;
  const lostOf = (block) => (spots ? spots.lost.slice(fn.first + block.start, fn.first + block.end).reduce((a, b) => a + b, 0) : 0);
  const losses = fn.blocks.map(lostOf), most = Math.max(1, ...losses);
  const selected = state.selected === null ? null : model.codes[state.selected];
  const parts = (b) => String(fn.blocks[b].end - 1) in fn.divergent;
  const style = (b) => (parts(b) ? { stroke: "var(--warn)", dash: "5 3" } : { stroke: "var(--soft)", dash: "" });
  const edge = ({ e, from, to, kind, track }, side) => {
    const x = side > 0 ? x0 + NODE.w : x0, far = x + side * (10 + track * lane), { stroke, dash } = style(from);
    const a = y(from) + NODE.h - 10, b = to < n ? y(to) + 12 : y(n) + 10;
    return html`<g><title>${`B${from} to ${to < n ? `B${to}` : "the end"} (${kind})${parts(from) ? ", lanes may part" : ""}`}</title>
      <path d=${`M${x} ${a}H${far}V${b}H${to < n ? x + side * 5 : x0 + NODE.w / 2 + 26}`} fill="none" stroke=${stroke} stroke-width="1.5" stroke-dasharray=${dash} />
      <path d=${to < n ? `M${x} ${b}l${side * 7} -4v8z` : `M${x0 + NODE.w / 2 + 22} ${b}l7 -4v8z`} fill=${stroke} /></g>`;
  };
  return html`<div class="graph wide" tabindex="0" role="region" aria-label="Control-flow graph">
    <div class="legend"><span><i style="background:var(--soft)"></i>edge</span><span><i style="background:var(--warn)"></i>lanes may part here</span>
      <span><i style="background:var(--scoreboard)"></i>loop</span>${spots && html`<span><i style="background:var(--stall)"></i>slots lost</span>`}</div>
    <svg width=${width} height=${height} role="group" aria-label=${`${n} blocks, ${fn.edges.length} edges`}>
      ${fn.loops.map((loop) => {
        const low = Math.min(...loop.blocks), high = Math.max(...loop.blocks), x = 6 + (loop.depth - 1) * 8;
        return html`<g><title>${`loop at B${loop.header}, depth ${loop.depth}: ${loop.blocks.length} blocks`}</title><path d=${`M${x + 5} ${y(low)}H${x}V${y(high) + NODE.h}H${x + 5}`} fill="none" stroke="var(--scoreboard)" stroke-width="2.5" /></g>`;
      })}
      ${fn.edges.map(([from, to]) => to === from + 1 && to < n && html`<path d=${`M${x0 + NODE.w / 2} ${y(from) + NODE.h}V${y(to) - 5}`} stroke=${style(from).stroke} stroke-width="1.5" stroke-dasharray=${style(from).dash} />
        <path d=${`M${x0 + NODE.w / 2} ${y(to)}l-4 -7h8z`} fill=${style(from).stroke} />`)}
      ${forward.map((each) => edge(each, 1))}${back.map((each) => edge(each, -1))}
      ${fn.blocks.map((block, b) => {
        const first = fn.lines[block.start], last = fn.lines[block.end - 1], here = selected && selected.fn === f && selected.block === b;
        const go = () => state.select(fn.first + block.start);
        const name = `B${b}${parts(b) ? ", may diverge" : ""}`, share = losses[b] ? percent(losses[b], spots.total) : "";
        const span = `${first === last ? `line ${first}` : `lines ${first}-${last}`}, ${plural(block.end - block.start, "instruction")}`;
        const rejoin = fn.divergent[block.end - 1];
        const note = rejoin === undefined ? "" : `; lanes may part, and rejoin ${rejoin < fn.lines.length ? `at line ${fn.lines[rejoin]}` : "at the end"}`;
        return html`<g class=${`node ${here ? "here" : ""} ${block.reachable ? "" : "dead"}`} role="button" tabindex="0" aria-label=${[name, share, span + note].filter(Boolean).join(" ")}
          onMouseMove=${(event) => showTip(event, `${fn.texts[block.start]}${block.end - block.start > 1 ? `\n...\n${fn.texts[block.end - 1]}` : ""}${note}`)} onMouseLeave=${hideTip} onClick=${go} onKeyDown=${(event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); } }}>
          <rect x=${x0} y=${y(b)} width=${NODE.w} height=${NODE.h} rx="6" />
          ${losses[b] > 0 && html`<rect x=${x0 + 1} y=${y(b) + NODE.h - 5} width=${((NODE.w - 2) * losses[b]) / most} height="4" style="fill:var(--stall);stroke:none" />`}
          <text x=${x0 + 9} y=${y(b) + 16} font-weight="650">${`${name} `}</text>
          <text x=${x0 + NODE.w - 9} y=${y(b) + 16} text-anchor="end">${`${share} `}</text>
          <text x=${x0 + 9} y=${y(b) + 31}>${span}</text></g>`;
      })}
      <text x=${x0 + NODE.w / 2} y=${y(n) + 14} text-anchor="middle">end</text>
    </svg></div>`;
}
