// Follow a run: draw the page anew after every round, and say how the run is getting on.

function status(view, age) {
  const run = view.runs[view.main], done = run.rounds.seconds.length;
  const accuracy = run.rounds.accuracy.filter(known).at(-1);
  const pace = mean(run.rounds.seconds.slice(-5)) || 0;
  const place = `round ${done} of ${run.num_rounds}, accuracy ${percent(accuracy)}${run.privacy ? `, ε ${epsilonText(run.privacy.epsilon)}` : ""}.`;
  if (run.finished) return `Finished: ${place}`;
  // Nobody tells that a run was stopped: it may be on another machine, or killed.
  if (age > Math.max(60, 5 * pace)) return `No round has ended for ${Math.floor(age / 60)} min; if the run was stopped, fedsemi run --resume (at a coordinator: fedsemi server) continues it: ${place}`;
  const left = done ? `, about ${duration(pace * (run.num_rounds - done))} left` : "";
  return `Running${left}: ${place}`;
}

function showProgress(run) {
  const bar = document.getElementById("progress");
  [bar.max, bar.value, bar.hidden] = [run.num_rounds, run.rounds.seconds.length, run.finished];
}

// What a person has opened, scrolled and focused stays so in the new drawing.
function keepPlace(draw) {
  const name = (node) => node.closest("figure")?.querySelector("h3").textContent ?? node.closest("section")?.querySelector("h2").textContent;
  const all = (what) => [...document.querySelectorAll(`main ${what}`)];
  const open = new Set(all("details[open]").map(name));
  const scrolled = new Map(all(".scroll").filter((n) => n.scrollLeft || n.scrollTop).map((n) => [name(n) + !!n.closest("details"), [n.scrollLeft, n.scrollTop]]));
  const focus = document.activeElement.closest("main") && [name(document.activeElement), document.activeElement.tagName];
  const top = scrollY;
  tip.hide();
  draw();
  for (const details of all("details")) details.open = open.has(name(details));
  scrollTo({ top, behavior: "instant" });
  // Charts are drawn and tables filled a moment later.
  requestAnimationFrame(() => setTimeout(() => {
    for (const node of all(".scroll")) node.scrollTo(...(scrolled.get(name(node) + !!node.closest("details")) || [0, 0]));
    const same = (node) => name(node) === focus[0] && node.tagName === focus[1];
    if (focus) all(":is([tabindex], summary)").find(same)?.focus({ preventScroll: true });
  }));
}

function followRun(view) {
  const line = document.getElementById("status");
  let now = view, since = performance.now(), lost = "";
  const say = () => {
    const age = now.age + (performance.now() - since) / 1000;
    // `fedsemi run --live` serves the page no longer than the run takes.
    const over = now.runs[now.main].finished;
    const text = lost && !over ? lost : status(now, age);
    if (line.textContent !== text) line.textContent = text; // screen readers read changes
    showProgress(now.runs[now.main]);
  };
  say();
  setInterval(say, 10000);
  // The server sends an event when a round is over; the page then fetches the data. It
  // does so on connecting too: rounds may have ended between page and connection.
  const events = new EventSource("events");
  const show = (view) => {
    [now, since] = [view, performance.now()];
    keepPlace(() => render(now));
    say();
  };
  events.onopen = events.onmessage = async () => {
    lost = "";
    const answer = await fetch("data");
    if (answer.ok) show(await answer.json()); // else the run is about to begin anew
  };
  // With the end come the data: the server will not be there to be asked.
  events.addEventListener("end", (event) => show(JSON.parse(event.data)));
  events.onerror = () => {
    // A browser that was refused does not try again; one that lost its server does.
    lost = events.readyState === EventSource.CLOSED ? "Too many pages follow this run; close one, then load this page again." : "The server of this page has stopped; the run itself may go on.";
    say();
  };
}
