"use strict";
const grid = JSON.parse(document.getElementById("grid").textContent);
const names = ["epsilon", "delta", "records"];
const slider = Object.fromEntries(names.map(name => [name, document.getElementById(name)]));
const put = (id, text) => { document.getElementById(id).textContent = text; };
const number = value => value === null ? "-" : Number(value.toPrecision(3)).toLocaleString("en");
const shown = (name, value) => name === "records" ? value.toLocaleString("en") : name === "delta" ? value.toExponential().replace("+", "") : String(value);

function percent(share) {  // rounded upwards: a bound must not look smaller than it is
  return (Math.ceil(share * 1000 - 1e-9) / 10).toLocaleString("en", {minimumFractionDigits: 1}) + " %";
}

function duration(seconds) {
  if (seconds === null) return "an unknown time";
  if (seconds < 1) return "under 1 s";
  if (seconds < 90) return Math.round(seconds) + " s";
  if (seconds < 5400) return Math.round(seconds / 60) + " min";
  return number(seconds / 3600) + " h";
}

function cell(e, d, n) {
  return grid.cells[(e * grid.delta.length + d) * grid.records.length + n];
}

function sharp(one) {  // width of intervals, or the error where it is larger
  const best = one.samplers[0];
  if (!best || best.error === null) return null;
  return best.width === null ? best.error : Math.max(best.width, best.error);
}

function node(kind, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function chart(id, values, here, low, high, log, label, limit) {
  const svg = document.getElementById(id), left = 46, right = 308, top = 12, bottom = 168;
  const scale = log ? Math.log : x => x;
  const first = Math.log(grid.epsilon[0]), last = Math.log(grid.epsilon[grid.epsilon.length - 1]);
  const x = e => left + (last > first ? (Math.log(e) - first) / (last - first) : 0.5) * (right - left);
  const y = v => bottom - (scale(v) - scale(low)) / (scale(high) - scale(low)) * (bottom - top);
  const parts = [];
  const ticks = log ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter(v => v >= low && v <= high) : [0.5, 0.6, 0.7, 0.8, 0.9, 1];
  const few = ticks.filter((v, k) => ticks.length < 7 || k % 2 === 0);
  for (const v of few) {
    parts.push(node("line", {class: "grid", x1: left, x2: right, y1: y(v), y2: y(v)}));
    parts.push(node("text", {class: "end", x: left - 6, y: y(v) + 4}, label(v)));
  }
  let written = -Infinity;
  for (const e of grid.epsilon) {
    if (x(e) - written < 24) continue;
    written = x(e);
    parts.push(node("text", {class: "middle", x: x(e), y: bottom + 16}, String(e)));
  }
  parts.push(node("text", {class: "middle", x: (left + right) / 2, y: bottom + 30}, "epsilon"));
  parts.push(node("line", {class: "limit", x1: left, x2: right, y1: y(limit), y2: y(limit)}));
  const points = values.map((v, k) => v === null ? null : [x(grid.epsilon[k]), y(Math.min(Math.max(v, low), high))]);
  parts.push(node("polyline", {class: "curve", points: points.filter(Boolean).map(p => p.join(",")).join(" ")}));
  for (const p of points.filter(Boolean)) parts.push(node("circle", {class: "dot", cx: p[0], cy: p[1], r: 2.4}));
  if (points[here]) parts.push(node("circle", {class: "here", cx: points[here][0], cy: points[here][1], r: 6}));
  svg.replaceChildren(...parts);
}

function table(samplers) {
  const rows = samplers.map(one => {
    const row = document.createElement("tr");
    const cells = [one.sampler, number(one.error), number(one.width), number(one.effective_draws), duration(one.seconds), one.kind];
    for (const text of cells) row.append(Object.assign(document.createElement("td"), {textContent: text}));
    return row;
  });
  document.getElementById("samplers").replaceChildren(...rows);
}

function update() {
  const [e, d, n] = names.map(name => Number(slider[name].value));
  for (const name of names) {
    const text = shown(name, grid[name][Number(slider[name].value)]);
    put(name + "-value", text);
    slider[name].setAttribute("aria-valuetext", text);
  }
  const now = cell(e, d, n), best = now.samplers[0];
  put("guess", now.guess === null ? "nothing" : percent(now.guess));
  put("guess-words", now.guess === null ? "No sampler that is proven runs within this budget, so nothing is released." :
    `Even someone who knows everything else can tell two versions of ${grid.unit} apart at most ${percent(now.guess)} of the time (a coin: 50 %).`);
  put("caught", now.caught === null ? "" : `An attack that wrongly accuses 1 in 100 rightly accuses at most ${percent(now.caught)}.`);
  const kind = best ? best.kind : "nothing runs";
  put("kind", kind.charAt(0).toUpperCase() + kind.slice(1));
  put("reason", best ? best.reason.charAt(0).toUpperCase() + best.reason.slice(1) + "." : "Raise epsilon.");
  put("runs", best ? `${best.sampler} would run, ${best.seconds !== null && best.seconds >= 1 ? "for about" : "in"} ${duration(best.seconds)} on one core.` : "");
  document.getElementById("buys").className = "box" + (kind === "useful" ? "" : kind === "wide" || kind === "unknown" || kind === "pulled to the prior" ? " fair" : " bad");
  const over = grid.epsilon.map((_, k) => cell(k, d, n));
  chart("chart-guess", over.map(one => one.guess), e, 0.5, 1, false, v => Math.round(100 * v) + " %", 0.5);
  const widths = over.map(sharp), highest = Math.max(2, ...grid.cells.map(sharp).filter(v => v !== null));
  chart("chart-width", widths, e, 0.9, Math.min(1000, 1.15 * highest), true, String, 1);
  table(now.samplers);
}

names.forEach((name, k) => {
  slider[name].max = grid[name].length - 1;
  slider[name].value = grid.start[k];
  slider[name].addEventListener("input", update);
});
update();
