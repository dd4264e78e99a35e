// What the guard cut, shown where it happened: by round and client.

const CUTS = {
  FS2107: "step", FS2109: "share of the mean", FS2140: "claims of diversity",
  FS2141: "round: back to an older model", FS2142: "steps of all clients without labels",
  FS2143: "step of its group",
};
const cutWhat = (cut) => CUTS[cut.code] || cut.code;
const cutText = (cut) => `${cutWhat(cut)} cut to ${percent(cut.part)}`;

// Marks for the lines of clients; what concerns all stands in the guard's own chart.
function withCuts(run, series) {
  return series.map((s) => ({
    ...s, marks: run.cuts.filter((c) => c.client === s.id).map((c) => ({ at: c.round, text: `guard: ${cutText(c)}` })),
  }));
}

const cutNote = (run) => (run.cuts.length ? "Triangles: the guard cut something of this client in this round." : "");

function guardSection(run) {
  if (!run.guard) return [];
  const done = run.rounds.seconds.length, rounds = new Set(run.cuts.map((c) => c.round)).size;
  if (!run.cuts.length) return [el("p", {}, `The guard was on and cut nothing in ${done} rounds.`)];
  const told = el("p", {}, `The guard was on and cut something in ${rounds} of ${done} rounds: this is not the published method.`);
  const who = (id) => (known(id) ? clientName(run, run.clients.ids.indexOf(id)) : "all");
  const rows = run.cuts.map((c) => [c.round, who(c.client), cutWhat(c), percent(c.part)]);
  const list = () => [["round", "client", "what was cut", "what was left"], rows];
  if (rows.length <= 20) return [told, ...grid([cutFigure(run)]), table(...list(), "What the guard cut")];
  return [told, ...grid([cutFigure(run, list)])];
}

function cutFigure(run, rows) {
  const there = run.clients.ids.map((id, k) => ({ id, name: clientShort(run, k), fill: clientStyle(run, k).color })).filter(({ id }) => run.cuts.some((c) => c.client === id));
  const lanes = run.cuts.some((c) => !known(c.client)) ? [{ id: null, name: "all", fill: "var(--text)" }, ...there] : there;
  const kinds = [...new Set(run.cuts.map(cutWhat))];
  const marks = run.cuts.map((c) => ({ lane: lanes.findIndex((l) => l.id === (c.client ?? null)), at: c.round, kind: kinds.indexOf(cutWhat(c)), left: c.part, text: `round ${c.round}, ${known(c.client) ? `client ${c.client}` : "all"}: ${cutText(c)}` }));
  return figure({
    title: "Where the guard cut", wide: true, rows,
    note: `A mark for each cut, by round and client; the lower its column, the less was left. ${kinds.map((kind, i) => `${SHAPES[i % SHAPES.length].name}: ${kind}`).join("; ")}.`,
    chart: laneChart({ lanes, marks, rounds: run.rounds.seconds.length, stages: run.stages }),
  });
}

const SHAPES = [
  { name: "Bars", path: (x, y, w, h) => `M${x - w / 2} ${y}v${-h}h${w}v${h}z` },
  { name: "Triangles", path: (x, y, w, h) => `M${x - w / 2 - 1} ${y}h${w + 2}L${x} ${y - h}z` },
  { name: "Diamonds", path: (x, y, w, h) => `M${x} ${y}L${x - w / 2 - 1} ${y - h / 2}L${x} ${y - h}L${x + w / 2 + 1} ${y - h / 2}z` },
];

// One lane a client along the rounds.
function laneChart({ lanes, marks, rounds, stages }) {
  return (width) => {
    const left = Math.min(width * 0.3, 14 + Math.max(...lanes.map((l) => textWidth(l.name)))), lane = 26, top = 24;
    const height = top + lane * lanes.length + 34, right = width - 14, bottom = top + lane * lanes.length;
    const x = (round) => left + 8 + (rounds > 1 ? (round - 1) / (rounds - 1) : 0.5) * (right - left - 16);
    const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    nameStages(picture, stages, { x, from: 1, to: rounds, top, bottom, right });
    lanes.forEach(({ name }, i) => {
      const y = top + (i + 1) * lane;
      picture.append(draw("line", { class: "axis", x1: left, x2: right, y1: y, y2: y }));
      picture.append(draw("text", { x: left - 6, y: y - 7, "text-anchor": "end" }, shorten(name, Math.floor((left - 8) / 6.8))));
    });
    for (const value of ticks(1, rounds, Math.min(8, width / 70)).filter(Number.isInteger))
      picture.append(draw("text", { x: x(value), y: bottom + 16, "text-anchor": "middle", class: "soft" }, value));
    picture.append(draw("text", { x: (left + right) / 2, y: height - 3, "text-anchor": "middle", class: "soft" }, "round"));
    const thick = Math.max(3, Math.min(9, (right - left) / rounds - 2));
    for (const m of marks) {
      const tall = 5 + 16 * (known(m.left) ? Math.min(1, m.left) : 1);
      const mark = draw("path", { class: "cut", d: SHAPES[m.kind % SHAPES.length].path(x(m.at), top + (m.lane + 1) * lane, thick, tall), fill: lanes[m.lane].fill });
      mark.append(draw("title", {}, m.text));
      picture.append(mark);
    }
    return picture;
  };
}
