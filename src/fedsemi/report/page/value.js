// What each client was worth, by several measures; filled by `fedsemi value`.

const signed = (value) => (known(value) ? `${value > 0 ? "+" : ""}${value.toFixed(4)}` : "–");
const fixed = (value, digits) => (known(value) ? value.toFixed(digits) : "–");

function valueSection(run) {
  const { measures, correlations, fewest, scored_on } = run.value;
  if (!measures) return [];
  const formats = { Contribution: percent, "Data size": whole };
  const figures = measures.map(({ name, about, values }) => {
    const format = formats[name] || signed;
    const place = (v) => run.clients.ids.indexOf(v.client);
    const bars = values.map((v) => ({ ...clientBar(run, place(v)), value: v.value, low: v.low, high: v.high }));
    return figure({
      title: name, note: about, chart: barChart({ rows: bars, format }), wide: bars.length > 30,
      rows: () => [["client", "value", "from", "to"], values.map((v) => [clientLabel(run, place(v)), format(v.value), format(v.low), format(v.high)])],
    });
  });
  figures.push(correlations.length ? agreement(correlations, scored_on) : el("p", { class: "note wide" }, `Models were scored on ${scored_on}. Rank correlations of the measures need ${fewest} unlabeled clients; there are fewer.`));
  return figures;
}

function agreement(correlations, scoredOn) {
  const note = `Models were scored on ${scoredOn}. Spearman's rank correlation over the unlabeled clients, with a 95 % bootstrap interval and the p-value of a permutation test.`;
  const rows = correlations.map((c) => [`${c.a} – ${c.b}`, c.clients, fixed(c.rho, 2), known(c.rho) ? `${fixed(c.low, 2)} to ${fixed(c.high, 2)}` : "–", fixed(c.p, 3)]);
  return el("figure", { class: "wide" }, el("figcaption", {}, el("h3", {}, "Do the measures agree?"), el("span", { class: "note" }, note)),
    table(["measures", "clients", "correlation", "interval", "p"], rows, "Rank correlations"));
}
