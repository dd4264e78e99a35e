// What each client was worth, by several measures; filled by `fedsemi value`.

function valueSection(run) {
  const { measures, correlations } = run.value;
  if (!measures) return [];
  const figures = measures.map(({ name, about, values }) => figure({
    title: name, note: about,
    chart: barChart({ rows: values.map((v) => ({ name: `client ${v.client}`, value: v.value, low: v.low, high: v.high })), format: plain }),
    rows: () => [["client", "value", "from", "to"], values.map((v) => [v.client, plain(v.value), plain(v.low), plain(v.high)])],
  }));
  if (correlations?.length) figures.push(el("figure", { class: "wide" }, el("figcaption", {}, el("h3", {}, "Do the measures agree?"), el("span", { class: "note" }, "Spearman's rank correlation over the unlabeled clients, with a 95 % bootstrap interval and the p-value of a permutation test.")),
    table(["measures", "clients", "correlation", "interval", "p"], correlations.map((c) => [`${c.a} – ${c.b}`, c.clients, plain(c.rho), `${plain(c.low)} to ${plain(c.high)}`, plain(c.p)]), "Rank correlations")));
  return figures;
}
