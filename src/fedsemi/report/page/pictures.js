// Images of the data: what the last model is sure of and wrong, and what it doubts.

function pictureSection(view) {
  const run = view.runs[view.main], { mistakes, least_sure: doubts } = view.pictures, figures = [];
  const names = classNames(run), sure = (p) => `${Math.round(100 * p.confidence)} %`;
  if (mistakes.length) figures.push(gallery({
    title: "The most confident mistakes", note: "Test images that the last model takes for another class, the surest first: is the picture unusual, or its label wrong?",
    groups: [{ pictures: mistakes.map((p) => ({ ...p, lines: [`taken for ${names[p.label]}`, `is ${names[p.true]}`, `sure: ${sure(p)}`], alt: `An image of ${names[p.true]}, taken for ${names[p.label]} with ${sure(p)} confidence` })) }],
  }));
  if (doubts.length) figures.push(gallery({
    title: "What each client is least sure of", note: "Unlabeled images whose pseudo-label by the last model is least confident: a person may look at these first. Nobody's truth was used.",
    groups: doubts.map(({ client, images }) => {
      const k = run.clients.ids.indexOf(client);
      return { name: clientName(run, k), fill: clientStyle(run, k).fill, pictures: images.map((p) => ({ ...p, lines: [`${names[p.label]}?`, sure(p)], alt: `An unlabeled image of client ${client}, perhaps ${names[p.label]}: ${sure(p)} confidence` })) };
    }),
  }));
  return figures;
}

function gallery({ title, note, groups }) {
  const node = el("figure", { class: "wide" }, el("figcaption", {}, el("h3", {}, title), el("span", { class: "note" }, note)));
  const lists = groups.map(({ name, fill, pictures }) => {
    const items = pictures.map(({ src, alt, lines }) => el("li", {}, el("img", { src, alt, class: src.startsWith("data:image/png") ? "exact" : "" }), ...lines.map((line) => el("span", { title: line }, line))));
    const list = el("ul", { class: name ? "pictures small" : "pictures" }, ...items);
    return name ? el("div", { class: "album" }, el("h4", {}, swatch(fill), name), list) : list;
  });
  node.append(el("div", groups[0].name ? { class: "albums" } : {}, ...lists));
  return node;
}
