// One picture after the other gets its label by a key; each answer is kept at once.

const view = JSON.parse(document.getElementById("data").textContent);
const NUMBERED = [..."123456789", ..."abcdefghijklmnopqrtuvwxyz"]; // s skips
// The digit 3 has the key 3, whatever its place; so has any list of single characters.
const single = view.classes.map((label) => label.toLowerCase());
const byName = single.every((label) => /^[0-9a-rt-z]$/.test(label)) && new Set(single).size === single.length;
const KEYS = byName ? single : NUMBERED;
const base = location.pathname;
const state = { ...view, at: 0, guess: false, busy: false };
const pictures = new Map();

const ask = async (path, options) => {
  const answer = await fetch(base + path, { cache: "no-store", ...options });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
};
const fetched = (path) => {
  if (!pictures.has(path)) pictures.set(path, ask(path).catch((error) => { pictures.delete(path); throw error; }));
  return pictures.get(path);
};
const open = (row) => row.label === null && !row.skipped;
const nextOpen = (from) => {
  const order = state.rows.map((_, i) => (from + i) % state.rows.length);
  return order.find((i) => open(state.rows[i]));
};
const say = (text, wrong = false) => {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.toggle("alarm", wrong);
};

const button = (key, text, act, more = {}) => {
  const node = el("button", { type: "button", ...more }, ...(key ? [el("kbd", {}, key)] : []), el("span", {}, text));
  node.addEventListener("click", () => { node.blur(); act(); });
  return node;
};

const image = el("img", { class: "asked", alt: "" });
const name = el("p", { class: "note name" });
const guess = el("p", { class: "guess" });
const choices = state.classes.map((label, k) => button(KEYS[k], label, () => answer(k)));
const find = el("input", { type: "search", placeholder: "Find a class, then Enter", "aria-label": "Find a class" });
const queue = state.rows.map((row, i) => {
  const node = el("button", { type: "button", class: "small", "aria-label": `Picture ${i + 1}: ${row.file}` }, el("img", { alt: "" }), el("span", {}));
  node.addEventListener("click", () => { node.blur(); go(i); });
  return node;
});
const undo = button("⌫", "undo", () => change("undo"));
const skip = button("s", "skip", () => change(`skip/${state.at}`));
const peek = button("?", "what the model thinks", () => { state.guess = !state.guess; show(); }, { "aria-pressed": "false" });

function answer(k) { change(`label/${state.at}/${k}`); }

async function change(path) {
  if (state.busy) return; // the answer before is not written yet
  state.busy = true;
  const from = state.at;
  try {
    const fresh = JSON.parse(await ask(path, { method: "POST" }));
    state.rows = fresh.rows;
    state.undo = fresh.undo;
    say("");
    state.at = fresh.at ?? nextOpen(from) ?? from;
    find.value = "";
  } catch (error) {
    say(`Not written: ${error.message}`, true);
  }
  state.busy = false;
  show();
}

function go(i) {
  state.at = Math.max(0, Math.min(i, state.rows.length - 1));
  show();
}

function show() {
  const row = state.rows[state.at], left = state.rows.filter(open).length, total = state.rows.length;
  const labeled = state.rows.filter((each) => each.label !== null).length;
  document.getElementById("subtitle").textContent = left
    ? `${total - left} of ${total} answered: ${labeled} labeled, ${total - left - labeled} skipped. Each answer is in labels.csv at once.`
    : `All ${total} are answered: ${labeled} labeled, ${total - labeled} skipped. Ctrl-C in the terminal ends this page; the next run learns from labels.csv.`;
  const bar = document.getElementById("progress");
  bar.value = total - left;
  const said = row.label !== null ? `labeled ${row.label}` : row.skipped ? "skipped" : "no label yet";
  name.textContent = `${state.at + 1} of ${total} · ${row.file} · ${said}`;
  guess.textContent = state.guess ? `The model thinks: ${row.guess}, ${Math.round(100 * row.sure)} %.` : "";
  peek.setAttribute("aria-pressed", state.guess);
  undo.disabled = !state.undo;
  choices.forEach((node, k) => {
    node.setAttribute("aria-pressed", row.label === state.classes[k]);
    node.hidden = !state.classes[k].toLowerCase().includes(find.value.toLowerCase());
  });
  queue.forEach((node, i) => {
    const each = state.rows[i];
    node.classList.toggle("done", !open(each));
    node.lastChild.textContent = each.label ?? (each.skipped ? "skipped" : "");
    if (i === state.at) node.setAttribute("aria-current", "true"); else node.removeAttribute("aria-current");
  });
  // Within its strip: the page itself must not jump under the fingers.
  const strip = queue[state.at].parentNode.parentNode;
  strip.scrollLeft = queue[state.at].offsetLeft - strip.clientWidth / 2;
  showPicture();
}

async function showPicture() {
  const at = state.at;
  image.alt = `Picture ${at + 1}`;
  try {
    const src = await fetched(`picture/${at}`);
    if (at !== state.at) return;
    image.src = src;
    image.classList.toggle("exact", src.startsWith("data:image/png"));
  } catch (error) {
    image.removeAttribute("src");
    say(`Picture ${at + 1} cannot be shown: ${error.message}; s skips it.`, true);
  }
  const next = nextOpen(at + 1);
  for (const key of pictures.keys()) if (key.startsWith("picture/") && pictures.size > state.rows.length + 8) { pictures.delete(key); break; }
  if (next !== undefined && next !== at) fetched(`picture/${next}`).catch(() => {});
}

async function showThumbnails() {
  for (let i = 0; i < queue.length; i++) {
    try { queue[i].firstChild.src = await fetched(`thumbnail/${i}`); } catch { queue[i].lastChild.textContent = "?"; }
  }
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target === find) {
    if (event.key === "Enter") {
      const k = choices.findIndex((node) => !node.hidden);
      if (k >= 0 && find.value) { find.blur(); answer(k); }
    } else if (event.key === "Escape") { find.value = ""; find.blur(); show(); }
    return;
  }
  const k = KEYS.indexOf(event.key.toLowerCase());
  const actions = {
    Backspace: () => state.undo && change("undo"),
    s: () => change(`skip/${state.at}`),
    "?": () => peek.click(),
    "/": () => find.isConnected && find.focus(),
    ArrowLeft: () => go(state.at - 1),
    ArrowRight: () => go(state.at + 1),
  };
  const action = actions[event.key] ?? (k >= 0 && k < choices.length ? () => answer(k) : null);
  if (!action) return;
  event.preventDefault();
  action();
});
find.addEventListener("input", show);

document.querySelector("h1").textContent = state.title;
const bar = document.getElementById("progress");
bar.max = state.rows.length;
bar.hidden = false;
bar.setAttribute("aria-label", "Pictures that are answered");
const many = state.classes.length > KEYS.length;
document.getElementById("content").append(
  el("div", { class: "desk" },
    el("div", { class: "look" }, image, name, guess),
    el("div", { class: "say" }, ...(many ? [find] : []), el("div", { class: "choices" }, ...choices), el("div", { class: "tools" }, undo, skip, peek))),
  el("div", { class: "scroll strip", role: "group", "aria-label": "The queue" }, el("div", { class: "queue" }, ...queue)),
);
state.at = nextOpen(0) ?? 0;
show();
showThumbnails();
