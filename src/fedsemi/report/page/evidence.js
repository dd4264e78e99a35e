// The page of tables and figures: what was measured, artifact by artifact.

function plotOf(plot) {
  const base = { title: plot.title, note: plot.note };
  if (plot.kind === "heat") {
    return figure({ ...base, wide: plot.columns.length > 30, chart: heatMap({ rowNames: plot.rows, columnNames: plot.columns, values: plot.values, format: whole, rowLabel: "client", columnLabel: "class" }) });
  }
  if (plot.kind === "bars") {
    const rows = plot.rows.map((row, i) => ({ ...row, color: COLORS[i % 7] }));
    return figure({ ...base, wide: true, chart: barChart({ rows, format: plain }), rows: () => [["", "value", ""], plot.rows.map((r) => [r.name, plain(r.value), r.text])] });
  }
  const xs = [...new Set(plot.series.flatMap((s) => s.xs))].sort((a, b) => a - b);
  const spreadOut = (s, key) => s[key] && xs.map((x) => (s.xs.includes(x) ? s[key][s.xs.indexOf(x)] : null));
  const series = plot.series.map((s, i) => ({
    name: s.seeds ? `${s.name} (n = ${s.seeds})` : s.name, color: COLORS[i % 7], dash: DASHES[Math.floor(i / 7) % 4],
    values: spreadOut(s, "values"), low: s.seeds > 1 ? spreadOut(s, "low") : undefined, high: s.seeds > 1 ? spreadOut(s, "high") : undefined,
  }));
  const all = series.flatMap((s) => [...s.values, ...(s.low || []), ...(s.high || [])]).filter(known);
  const low = Math.max(0, Math.min(...all) - 0.02), high = Math.min(1, Math.max(...all) + 0.02);
  return figure({ ...base, legend: series, chart: lineChart({ xs, series, low, high }), rows: () => [["round", ...series.map((s) => s.name)], xs.map((x, i) => [x, ...series.map((s) => percent(s.values[i]))])] });
}

const WORDS = ["method", "verdict", "notes", "SemiAnAgg against"];

function tableOf({ head, rows, caption }) {
  const node = table(head, rows, caption);
  const left = head.map((name) => WORDS.includes(name));
  for (const row of node.querySelectorAll("tr")) [...row.children].forEach((cell, i) => cell.classList.toggle("text", left[i]));
  return node;
}

function sectionOf(part, number) {
  const nodes = part.tables.map(tableOf);
  if (part.plots.length) nodes.push(el("div", { class: "grid" }, ...part.plots.map(plotOf)));
  if (part.missing) nodes.push(el("p", {}, part.missing));
  if (part.notes.length) nodes.push(el("ul", { class: "note" }, ...part.notes.map((note) => el("li", {}, note))));
  return el("section", { "aria-labelledby": `s${number}` }, el("h2", { id: `s${number}` }, `${part.name}: ${part.title}`), ...nodes);
}

const view = JSON.parse(document.getElementById("data").textContent);
document.querySelector("h1").textContent = view.title;
document.getElementById("subtitle").textContent = view.about;
document.getElementById("content").replaceChildren(...view.sections.map(sectionOf));
document.getElementById("contents").replaceChildren(...view.sections.map((part, i) => el("li", {}, el("a", { href: `#s${i}` }, part.name))));
