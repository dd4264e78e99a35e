// The page of results: the questions with their answers, then tables, then figures.

function linesOf(plot, base) {
  const xs = [...new Set(plot.series.flatMap((s) => s.xs))].sort((a, b) => a - b);
  const spreadOut = (s, key) => s[key] && xs.map((x) => (s.xs.includes(x) ? s[key][s.xs.indexOf(x)] : null));
  const series = plot.series.map((s, i) => ({
    name: s.seeds ? `${s.name} (n = ${s.seeds})` : s.name, ...styleOf(+(/^client (\d+)$/.exec(s.name)?.[1] ?? i)),
    values: spreadOut(s, "values"), low: s.seeds > 1 ? spreadOut(s, "low") : undefined, high: s.seeds > 1 ? spreadOut(s, "high") : undefined,
  }));
  const all = series.flatMap((s) => [...s.values, ...(s.low || []), ...(s.high || [])]).filter(known);
  const low = Math.max(0, Math.min(...all) - 0.02), high = Math.min(1, Math.max(...all) + 0.02);
  // A line alone has no legend, so the note names it.
  const note = series.length > 1 ? base.note : `${series[0].name}. ${base.note}`;
  return figure({ ...base, note, legend: series, chart: lineChart({ xs, series, low, high }), rows: () => [["round", ...series.map((s) => s.name)], xs.map((x, i) => [x, ...series.map((s) => percent(s.values[i]))])] });
}

const PLOTS = {
  heat: (plot, base) => figure({ ...base, wide: plot.columns.length > 30, chart: heatMap({ rowNames: plot.rows, columnNames: plot.columns, values: plot.values, format: whole, rowLabel: "client", columnLabel: "class", counted: "images" }) }),
  bars: (plot, base) => {
    return figure({ ...base, wide: true, chart: barChart({ rows: plot.rows, format: plain }), rows: () => [["", "value", ""], plot.rows.map((r) => [r.name, plain(r.value), r.text])] });
  },
  lines: linesOf,
  ranks: (plot, base) => figure({ ...base, wide: true, chart: () => new DOMParser().parseFromString(plot.svg, "image/svg+xml").documentElement }),
  intervals: (plot, base) => {
    const groups = [...new Set(plot.rows.map((r) => r.group))];
    return figure({ ...base, wide: true, legend: groups.map((name, i) => ({ name, color: COLORS[i] })), chart: intervalChart({ rows: plot.rows, worth: plot.worth, label: plot.label }) });
  },
  map: (plot, base) => figure({ ...base, wide: plot.columns.length > 5, chart: differenceMap({ rows: plot.rows, columns: plot.columns, cells: plot.cells, rowLabel: plot.row_label, worth: plot.worth, most: plot.most, planned: plot.planned }) }),
  sweep: (plot, base) => {
    const series = plot.series.map((s, i) => ({ ...s, color: COLORS[i % 7], dash: DASHES[Math.floor(i / 7) % 4] }));
    const cell = (s, i) => (known(s.values[i]) ? `${s.values[i]} %` : "–");
    return figure({ ...base, wide: true, legend: series, chart: sweepChart({ ...plot, series }), rows: () => [[plot.label, ...series.map((s) => s.name)], plot.names.map((name, i) => [name, ...series.map((s) => cell(s, i))])] });
  },
  dose: (plot, base) => figure({ ...base, wide: true, chart: doseChart({ points: plot.points, label: plot.label, unit: " %" }) }),
};

const plotOf = (plot) => PLOTS[plot.kind](plot, { title: plot.title, note: plot.note });

const WORDS = ["method", "verdict", "notes", "SemiAnAgg against", "difference", "score", "finding", "the order"];

function tableOf({ head, rows, caption }) {
  const node = table(head, rows, caption);
  const left = head.map((name) => WORDS.includes(name));
  for (const row of node.querySelectorAll("tr")) [...row.children].forEach((cell, i) => cell.classList.toggle("text", left[i]));
  return node;
}

function folded(title, ...nodes) {
  return el("details", {}, el("summary", {}, title), ...nodes);
}

// A table as in the paper: one head over what columns have in common, one for metrics.
// Beside each number stand its mark, its seeds and the paper's number, small.
function panelOf({ groups, metrics, rows }, name) {
  const node = table([""], rows.map((row) => [row.title]), "");
  node.classList.add("results");
  node.firstChild.setAttribute("aria-label", name);
  const heads = (list) => list.map(([text, span]) => el("th", { scope: "colgroup", colspan: 2 * span }, text));
  const head = node.querySelector("thead");
  head.replaceChildren(el("tr", {}, el("td"), ...heads(groups)), el("tr", {}, el("td"), ...heads(metrics.map((name) => [name, 1]))));
  [...node.querySelectorAll("tbody tr")].forEach((line, i) => {
    if (rows[i].bound) line.classList.add("bound");
    for (const cell of rows[i].cells) line.append(...entryOf(cell));
  });
  return node;
}

function entryOf({ value, sd, seeds, mark, paper }) {
  const ours = [value ? el(mark === "best" ? "b" : "span", {}, value) : "–"];
  if (sd) ours.push(el("span", { class: "soft" }, ` ± ${sd}`));
  const beside = [mark === "tied" ? "≈" : "", seeds ? `n = ${seeds}` : "", paper || ""];
  return [el("td", {}, ...ours), el("td", { class: "beside" }, beside.filter(Boolean).join("  "))];
}

// Nothing is found as long as nothing was run.
const notRun = ({ finding }) => finding.split(";").every((part) => part.endsWith("not run"));

function questionOf(answer) {
  const nodes = [el("p", { class: notRun(answer) ? "finding open" : "finding" }, answer.finding), el("p", {}, answer.text)];
  if (answer.more) nodes.push(folded("More in words", el("p", {}, answer.more)));
  nodes.push(...grid(answer.plots.map(plotOf)));
  if (answer.rows.length) nodes.push(folded("Show the numbers", tableOf({ ...answer, caption: answer.question })));
  if (answer.panels.length) nodes.push(folded("Show the scores of all arms", el("p", { class: "note" }, answer.caption), ...answer.panels.map((panel) => panelOf(panel, answer.question))));
  nodes.push(el("p", { class: "note" }, answer.note));
  return el("section", { class: "question", "aria-labelledby": answer.id }, el("h3", { id: answer.id }, `${answer.name}  ${answer.question}`), ...nodes);
}

// A few notes stand at the table; many would hide it.
function remarksOf(remarks) {
  const list = el("ul", { class: "note remarks" }, ...remarks.map((text) => el("li", {}, text)));
  return remarks.length > 4 ? folded(`Settings and notes (${remarks.length})`, list) : list;
}

function artifactOf(part) {
  const lead = part.lead.map((text) => el("p", { class: "finding" }, text));
  const nodes = part.panels.map((panel) => panelOf(panel, part.title));
  if (nodes.length) nodes.unshift(el("p", { class: "note caption" }, part.caption));
  nodes.push(...part.tables.map(tableOf), ...grid(part.plots.map(plotOf)));
  if (part.remarks.length) nodes.push(remarksOf(part.remarks));
  nodes.push(...part.folded.map((one) => folded(one.caption, tableOf(one))));
  return el("section", { "aria-labelledby": part.id }, el("h3", { id: part.id }, `${part.name}. ${part.title}`), ...lead, ...nodes);
}

const view = JSON.parse(document.getElementById("data").textContent);
document.querySelector("h1").textContent = view.title;
document.getElementById("subtitle").textContent = view.about;

// All questions on one screen, each with its short answer; each leads to its section.
// Roles are said, since a narrow screen stacks the cells.
function overviewOf(lines, answers) {
  const toSection = (name) => el("a", { href: `#${answers.find((a) => a.name === name).id}` }, name);
  const told = ([word, text]) => el("p", {}, el("b", { class: word.toLowerCase() }, `${word}:`), ` ${text}`);
  const row = (line) => el("tr", { role: "row" }, el("th", { scope: "row", role: "rowheader" }, toSection(line.name)), el("td", { role: "cell" }, line.question), el("td", { role: "cell" }, ...line.answer.map(told)));
  return el("table", { class: "overview", role: "table", "aria-label": "Questions and answers" }, el("tbody", { role: "rowgroup" }, ...lines.map(row)));
}

const overview = view.overview.length ? [el("p", { class: "note" }, view.overview_note), overviewOf(view.overview, view.answers), folded("What the words mean", table(["word", "meaning"], view.words, "What the words mean"))] : [];
const parts = [
  ["Questions", view.answers.length ? [...overview, ...view.answers.map(questionOf)] : [], view.answers.map((a) => [a.id, a.name])],
  ["Tables", view.tables.map(artifactOf), view.tables.map((t) => [t.id, t.name])],
  ["Figures", view.figures.map(artifactOf), view.figures.map((f) => [f.id, f.name])],
].filter(([, nodes]) => nodes.length);
// What a reader of the paper asks first; a page on which nothing of it was run has none.
const besideOf = ({ sentence, table, note }) => [el("p", { class: "lead" }, sentence), folded("Beside the paper, lead by lead", tableOf(table), el("p", { class: "note" }, note))];
const beside = view.beside_paper?.sentence ? besideOf(view.beside_paper) : [];
const missing = view.missing ? [el("p", { class: "note" }, view.missing)] : [];
document.getElementById("content").className = "whole";
document.getElementById("content").replaceChildren(...beside, ...parts.flatMap(([name, nodes]) => [el("h2", {}, name), ...nodes]), ...missing);
document.getElementById("contents").replaceChildren(...parts.flatMap(([name, , links]) => [el("li", { class: "kind" }, name), ...links.map(([id, text]) => el("li", {}, el("a", { href: `#${id}` }, text)))]));

// Charts are drawn once the page has a width, and push down what an address leads to.
// A page that is loaded again stays where it was.
function land() {
  if (performance.getEntriesByType("navigation")[0]?.type !== "navigate") return;
  document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: "instant" });
}
addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(land)));
