/* Filters, the keyboard, and the address, whose hash names an episode and a step: #e12/3. */

const OUTCOMES = ["success", "no success", "failure", "untested", "not over"];

class Page {
  constructor(run) {
    this.run = run;
    this.list = new EpisodeList((key) => { location.hash = address(key); });
    this.view = new EpisodeView(run);
    this.chosen = { outcome: "", failure: "", domain: "", family: "", level: "", run: "" };
    this.found = null;
    this.search = 0;
    this.facts();
    this.controls();
    this.filter();
    window.addEventListener("hashchange", () => this.follow());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  facts() {
    const { episodes, index } = this.run;
    const steps = episodes.reduce((sum, episode) => sum + episode.steps, 0);
    const tested = episodes.filter((episode) => ["success", "no success"].includes(episode.outcome));
    const solved = tested.filter((episode) => episode.outcome === "success").length;
    const parts = [count(episodes.length, "episode"), count(steps, "step")];
    if (tested.length) parts.push(`success ${(solved / tested.length).toFixed(2)} of ${tested.length}`);
    for (const run of index.runs.slice(0, 3)) parts.push(`${run.env}, ${world(run)}${run.lock ? `, lock ${run.lock}` : ""}`);
    if (index.runs.length > 3) parts.push(`${index.runs.length} runs`);
    if (index.twin) parts.push(`beside ${index.twin}`);
    if (index.skippedScreens) parts.push(`${count(index.skippedScreens, "screen")} not drawn`);
    document.getElementById("facts").replaceChildren(...parts.map((part) => el("span", {}, part)));
  }

  controls() {
    const { episodes } = this.run;
    const outcomes = document.getElementById("outcomes"), bar = document.getElementById("bar");
    const counts = OUTCOMES.map((outcome) => [outcome, episodes.filter((one) => one.outcome === outcome).length]).filter(([, many]) => many);
    for (const [outcome, many] of counts) {
      const chip = el("button", { type: "button", className: `chip ${kind(outcome)}`, ariaPressed: "false" }, `${MARKS[outcome]} ${outcome} `, el("b", {}, `${many}`));
      chip.addEventListener("click", () => {
        this.chosen.outcome = this.chosen.outcome === outcome ? "" : outcome;
        for (const other of outcomes.children) other.ariaPressed = String(other === chip && this.chosen.outcome !== "");
        this.filter();
      });
      outcomes.append(chip);
      const part = el("i", { className: kind(outcome) });
      part.style.flexGrow = many;
      bar.append(part);
    }
    const selects = document.getElementById("selects");
    for (const [name, all] of [["failure", "any failure"], ["domain", "all domains"], ["family", "all families"], ["level", "all levels"], ["run", "all runs"]]) {
      const values = new Map();
      for (const episode of episodes) if (episode[name] !== undefined) values.set(String(episode[name]), (values.get(String(episode[name])) || 0) + 1);
      if (values.size < (name === "failure" ? 1 : 2)) continue;
      const told = (value) => name === "level" ? `level ${value}` : name === "run" ? this.run.index.runs[value].run : value;
      const options = [...values].sort(([one], [other]) => one < other ? -1 : 1);
      const select = el("select", { ariaLabel: name }, el("option", { value: "" }, all),
        options.map(([value, many]) => el("option", { value }, `${told(value)} (${many})`)));
      select.addEventListener("change", () => { this.chosen[name] = select.value; this.filter(); });
      selects.append(select);
    }
    let waiting = 0;
    document.getElementById("text").addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.look(event.target.value.trim()), 150);
    });
    document.getElementById("theme").addEventListener("click", theme);
    document.getElementById("keys").addEventListener("click", () => document.getElementById("help").showModal());
  }

  filter() {
    const { chosen, found } = this;
    const names = Object.keys(chosen).filter((name) => chosen[name] !== "");
    const shown = this.run.episodes.filter((episode) =>
      names.every((name) => String(episode[name]) === chosen[name]) && (!found || found.has(episode.key)));
    this.list.set(shown, found);
    const steps = shown.reduce((sum, episode) => sum + episode.steps, 0);
    document.getElementById("count").textContent = `${shown.length.toLocaleString("en")} of ${count(this.run.episodes.length, "episode")} · ${count(steps, "step")}${this.searching ? " · searching …" : ""}`;
  }

  async look(words) {
    const mine = ++this.search;
    this.view.words = words;
    this.found = words ? new Map() : null;
    this.searching = Boolean(words);
    this.filter();
    this.again();
    if (!words) return;
    let due = performance.now() + 200;
    await this.run.search(words, (episode, turns) => {
      this.found.set(episode.key, turns);
      if (performance.now() > due) { this.filter(); due = performance.now() + 200; }
    }, () => mine === this.search);
    if (mine !== this.search) return;
    this.searching = false;
    this.filter();
  }

  /* Draws the episode again, for the marks of a search. */
  again() {
    const episode = this.view.episode;
    if (!episode) return;
    this.view.episode = null;
    this.view.show(episode, this.view.parts[this.view.at].turn);
  }

  async follow() {
    const [key, turn] = location.hash.slice(1).split("/").map(decoded);
    const place = this.run.byKey.get(key);
    document.body.classList.toggle("reading", place !== undefined);
    if (!this.run.episodes.length) this.say("This run has no episodes.");
    if (place === undefined) {
      if (this.run.episodes.length && matchMedia("(min-width: 52rem)").matches && !key) await this.open(this.list.shown[0] || this.run.episodes[0], 0);
      else if (key) this.say(`There is no episode ${key} in this run.`);
      return;
    }
    await this.open(this.run.episodes[place], Number(turn) || 0);
  }

  async open(episode, turn) {
    this.list.select(episode.key);
    await this.view.show(episode, turn);
  }

  say(text) {
    this.view.episode = null;
    this.view.parts = [];
    this.view.cards = [];
    this.view.box.replaceChildren(el("p", { className: "none" }, text));
  }

  to(place) {
    if (!this.view.parts.length) return;
    history.replaceState(null, "", address(this.view.episode.key, this.view.parts[place].turn));
    this.view.to(place);
  }

  key(event) {
    const typing = /INPUT|SELECT|TEXTAREA/.test(event.target.tagName);
    if (event.key === "Escape" && typing) { event.target.blur(); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help").open) return;
    const view = this.view;
    const digit = /^Digit([1-8])$/.exec(event.code);
    const turns = view.episode && this.found ? this.found.get(view.episode.key) || [] : [];
    const near = (after) => [...view.parts.keys()].filter((place) => turns.includes(view.parts[place].turn) && (after ? place > view.at : place < view.at));
    const does = {
      j: () => this.to(Math.min(view.parts.length - 1, view.at + 1)),
      k: () => this.to(Math.max(0, view.at - 1)),
      "]": () => this.list.move(1),
      "[": () => this.list.move(-1),
      n: () => this.to(near(true)[0] ?? view.at),
      p: () => this.to(near(false).pop() ?? view.at),
      c: () => navigator.clipboard && navigator.clipboard.writeText(location.href),
      t: theme,
      "?": () => document.getElementById("help").showModal(),
      "/": () => document.getElementById("text").focus(),
    }[event.key];
    if (does) { event.preventDefault(); does(); }
    else if (digit) {
      event.preventDefault();
      const wanted = VIEWS[digit[1] - 1][0];
      if (event.shiftKey) view.all(wanted);
      else if (view.cards[view.at]) view.view(view.cards[view.at], wanted);
    }
  }
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function world(run) {
  const parts = run.fingerprint || {};
  const value = (name) => parts[name] && parts[name].value;
  return [value("world"), value("model"), value("engine")].filter(Boolean).join(" ");
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

Run.open().then(async (run) => {
  await new Page(run).follow();
  document.documentElement.dataset.ready = `${Math.round(performance.now())}`;
}).catch((error) => {
  document.getElementById("episode").replaceChildren(el("p", { className: "error" }, `This page cannot be unpacked: ${error}`));
});
