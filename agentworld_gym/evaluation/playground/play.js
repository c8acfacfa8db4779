/* The table: what is chosen, what is done, and the server that does it. */

const BEAT = 2000;
const byId = (id) => document.getElementById(id);

class Refused extends Error {
  constructor({ kind, message }) {
    super(message);
    this.kind = kind;
  }
}

class Play {
  constructor() {
    this.state = { version: 0, game: null };
    this.panes = [new Pane(this, 0), new Pane(this, 1)];
    this.seen = null;
    this.front = 0;
    this.zoom = 0;
    this.least = 0.9;
    this.gesture = null;
    this.waiting = false;
    this.playing = false;
    this.recall = [];
    this.wire();
  }

  wire() {
    byId("theme").addEventListener("click", theme);
    byId("begin").addEventListener("submit", (event) => { event.preventDefault(); this.begin(); });
    byId("domain").addEventListener("change", () => this.choices(byId("domain").value));
    byId("act").addEventListener("submit", (event) => { event.preventDefault(); this.act(); });
    byId("action").addEventListener("keydown", (event) => this.key(event));
    byId("action").addEventListener("input", () => this.grow());
    byId("back").addEventListener("click", () => this.ask("back", { turn: (this.seen ?? this.state.game.turn) - 1 }));
    byId("again").addEventListener("click", () => this.ask("again"));
    byId("once").addEventListener("click", () => this.agent());
    byId("onward").addEventListener("click", () => this.onward());
    byId("save").addEventListener("click", () => this.ask("save"));
    setInterval(() => this.beat(), BEAT);
  }

  /* Asks the server, and returns its answer. */
  async fetched(name, body) {
    let response;
    try {
      response = await fetch(name, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    } catch {
      this.lost(true);
      throw new Refused({ kind: "lost", message: "The server cannot be reached." });
    }
    const answer = await response.json();
    if (response.status === 503) this.lost(true);
    if (answer.error) throw new Refused(answer.error);
    return answer;
  }

  /* Has something done to the game, and shows what came of it; whether it was done. */
  async ask(name, body = {}) {
    if (this.waiting) return false;
    this.waiting = true;
    this.error(null);
    const began = performance.now();
    const clock = setInterval(() => this.busy(began), 200);
    this.busy(began);
    let done = false;
    try {
      this.state = await this.fetched(name, { ...body, version: this.state.version });
      this.seen = null;
      done = true;
    } catch (error) {
      this.error(error);
      if (error.kind !== "lost") this.state = await this.fetched("state", {}).catch(() => this.state);
    }
    clearInterval(clock);
    this.waiting = false;
    this.busy(null);
    this.draw();
    return done;
  }

  busy(began) {
    const wait = began === null ? 0 : (performance.now() - began) / 1000;
    byId("busy").textContent = began === null ? "" : wait < 0.4 ? "…" : `the worlds answer … ${wait.toFixed(1)} s`;
    document.body.classList.toggle("waiting", began !== null);
  }

  error(error) {
    const box = byId("error");
    box.hidden = error === null;
    if (error !== null) box.replaceChildren(el("b", {}, `${error.kind || error.name}: `), error.message);
  }

  lost(is) {
    byId("lost").hidden = !is;
    document.body.classList.toggle("alone", is);
    if (is) this.playing = false;
  }

  async beat() {
    try {
      const response = await fetch("alive", { cache: "no-store" });
      this.lost(!response.ok);
      if (!response.ok) return;
      const alive = await response.json();
      if (!this.waiting && !this.playing && alive.busy === null && alive.version !== this.state.version) {
        this.state = await this.fetched("state", {});
        this.seen = null;
        this.draw();
      }
    } catch {
      this.lost(true);
    }
  }

  async choices(domain) {
    try {
      const shown = await this.fetched("choices", domain ? { domain } : {});
      const option = ([value, told]) => el("option", { value }, told);
      const domains = shown.domain in shown.domains ? shown.domains : { ...shown.domains, [shown.domain]: shown.title };
      byId("domain").replaceChildren(...Object.entries(domains).map(([name, title]) => option([name, `${name}: ${title}`])));
      byId("domain").value = shown.domain;
      byId("worlds").replaceChildren(...shown.worlds.map((value) => option([value, ""])));
      byId("tasks").replaceChildren(...shown.tasks.map((value) => option([value, ""])));
      byId("family").replaceChildren(option(["", "as the seed says"]), ...shown.families.map((name) => option([name, name])));
      byId("level").replaceChildren(...shown.levels.map((level) => option([level, level])));
      byId("split").replaceChildren(...shown.splits.map((split) => option([split, split])));
      byId("agents").replaceChildren(...Object.entries(shown.agents).map(option));
      byId("task").value = "";
      if (!domain) this.first(shown);
      else if (!shown.worlds.includes("tiny") && byId("right").value === "tiny") byId("right").value = "";
    } catch (error) {
      this.error(error);
    }
  }

  first({ first }) {
    byId("left").value = first.worlds[0] || "grounded";
    byId("right").value = first.worlds[1] || "";
    byId("family").value = first.family || "";
    byId("level").value = first.level || 1;
    byId("seed").value = first.seed;
    byId("split").value = first.split;
    byId("task").value = first.task || "";
  }

  async begin() {
    const worlds = [byId("left").value.trim(), byId("right").value.trim()].filter(Boolean);
    const begun = await this.ask("begin", {
      domain: byId("domain").value, worlds, task: byId("task").value.trim(), family: byId("family").value,
      level: Number(byId("level").value), seed: Number(byId("seed").value), split: byId("split").value,
    });
    if (!begun) return;
    byId("setup").open = false;
    this.gesture = this.state.game.gestures[0] || null;
    this.front = 0;
    for (const pane of this.panes) pane.look = "screen";
    this.draw();
    if (matchMedia("(min-width: 60rem)").matches) byId("action").focus();
  }

  async act(action = byId("action").value) {
    if (!action.trim()) return;
    if (await this.ask("act", { action })) {
      this.recall.push(action);
      byId("action").value = "";
      this.grow();
    }
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.act();
    } else if (event.key === "ArrowUp" && !byId("action").value && this.recall.length) {
      event.preventDefault();
      this.fill(this.recall[this.recall.length - 1]);
    }
  }

  fill(action) {
    byId("action").value = action;
    this.grow();
    byId("action").focus();
  }

  grow() {
    const box = byId("action");
    box.rows = Math.min(6, box.value.split("\n").length);
  }

  agent() {
    return this.ask("agent", { agent: byId("agent").value.trim() });
  }

  async onward() {
    if (this.playing) { this.playing = false; this.draw(); return; }
    this.playing = true;
    while (this.playing && !this.state.game.over) {
      if (!(await this.agent())) break;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    this.playing = false;
    this.draw();
  }

  /* Does the chosen gesture at a point; asks for a text first, where one can be written. */
  async point(side, x, y, place) {
    if (this.waiting || this.playing) return;
    const found = this.state.game.sides[side].places[place];
    const usual = this.gesture === this.state.game.gestures[0];
    if (!found || !usual || !(found.writes || found.options.length)) {
      this.ask("point", { side, gesture: this.gesture, x, y });
      return;
    }
    const told = await this.typed(found);
    if (told === null) return;
    if (told.click) this.ask("point", { side, gesture: this.gesture, x, y });
    else this.ask("write", { side, place, text: told.text });
  }

  /* Resolves to what shall be written into a place, to a click, or to null. */
  typed(place) {
    const dialog = byId("write");
    const field = place.options.length
      ? el("select", {}, place.options.map((option) => el("option", { value: option, selected: option === place.text }, option)))
      : el("input", { type: "text", value: place.text.includes("\\n") ? "" : place.text, autocomplete: "off", spellcheck: false });
    byId("write-title").textContent = place.label || place.role;
    byId("write-field").replaceChildren(field);
    byId("write-it").textContent = place.options.length ? "Choose" : "Write";
    byId("write-click").textContent = `Only ${this.gesture}`;
    dialog.returnValue = "";
    dialog.showModal();
    field.focus();
    if (field.select) field.select();
    return new Promise((resolve) => dialog.addEventListener("close", () => {
      if (dialog.returnValue === "write") resolve({ text: field.value });
      else resolve(dialog.returnValue === "click" ? { click: true } : null);
    }, { once: true }));
  }

  draw() {
    const { game } = this.state;
    byId("controls").hidden = game === null;
    document.body.classList.toggle("begun", game !== null);
    if (game === null) {
      byId("panes").replaceChildren(el("p", { className: "none" }, "Choose an episode and begin. Two worlds get the same actions and are shown side by side."));
      return;
    }
    const turn = this.seen ?? game.turn, live = turn === game.turn;
    this.facts(game, turn);
    this.told(game);
    this.turns(game, turn);
    const { sides } = game;
    byId("switch").replaceChildren(...(sides.length < 2 ? [] : sides.map((side, number) =>
      el("button", { type: "button", role: "tab", ariaSelected: String(number === this.front), onclick: () => { this.front = number; this.draw(); } }, side.world))));
    byId("panes").className = `panes many${sides.length}`;
    byId("panes").replaceChildren(...sides.map((side, number) => {
      const other = sides.length > 1 ? sides[1 - number].turns[turn] : undefined;
      const pane = this.panes[number].draw(side, turn, other, live && !side.over && side.turns.length === turn + 1);
      pane.classList.toggle("front", number === this.front);
      return pane;
    }));
    for (const session of byId("panes").querySelectorAll(".body.session")) session.scrollTop = session.scrollHeight;
    const done = sides.map((side) => side.turns[turn]).find((part) => part && part.action !== undefined);
    byId("done").hidden = !done || !game.gestures.length;
    byId("done").replaceChildren(...(done ? [el("b", {}, `${turn} ${done.by}`), el("code", {}, done.action)] : []));
    byId("past").hidden = live;
    byId("past").replaceChildren(`Turn ${turn} of ${game.turn}. `,
      el("button", { type: "button", onclick: () => this.ask("back", { turn }) }, "Go on from here"),
      el("button", { type: "button", onclick: () => { this.seen = null; this.draw(); } }, "Back to the last turn"));
    this.controls(game, turn);
  }

  facts(game, turn) {
    byId("title").textContent = `${game.domain} · ${game.task}`;
    const parts = [game.family && game.family !== game.task ? game.family : "", game.level ? `level ${game.level}` : "", `seed ${game.seed}`, `turn ${turn} of at most ${game.limit}`, game.over ? "over" : "", game.saved ? `saved in ${game.saved}` : ""];
    byId("facts").replaceChildren(...parts.filter(Boolean).map((part) => el("span", {}, part)));
    document.title = `${game.task} · agentworld play`;
  }

  told(game) {
    const key = `${game.task}/${game.seed}/${game.choice.worlds}`;
    if (this.shownTask === key) return;
    this.shownTask = key;
    const slider = el("input", { type: "range", min: 0.05, max: 1, step: 0.05, value: this.least, ariaLabel: "Least probability" });
    const least = el("output", {}, this.least.toFixed(2));
    slider.addEventListener("input", () => { this.least = Number(slider.value); least.textContent = this.least.toFixed(2); this.draw(); });
    const examples = game.tools.length ? [] : game.examples;
    byId("told").replaceChildren(
      el("p", { className: "instruction" }, game.instruction),
      el("details", {}, el("summary", {}, game.tools.length ? `${game.tools.length} tools, and a guard` : "How actions look, and a guard"),
        el("div", { className: "offers" },
          game.tools.map((tool) => el("button", { type: "button", title: tool.example, onclick: () => this.fill(tool.example) }, el("b", {}, tool.name), ` ${tool.description}`)),
          examples.map((example) => el("button", { type: "button", onclick: () => this.fill(example) }, el("code", {}, example)))),
        el("label", { className: "guard" }, "A guard grounds below ", slider, " ", least)));
  }

  turns(game, turn) {
    const [first, second] = game.sides;
    const rows = Array.from({ length: game.turn + 1 }, (_, number) => {
      const parts = game.sides.map((side) => side.turns[number]);
      const part = parts.find(Boolean), said = (test) => parts.some((one) => one && test(one));
      const differs = second && parts[0] && parts[1] && parts[0].shown !== parts[1].shown;
      const marks = [
        differs ? el("i", { className: "dot", title: "the worlds differ" }) : null,
        said((one) => one.grounds || one.probability < this.least) ? el("span", { className: "mark grounds", title: "a guard would ground this" }, "⚓") : null,
        said((one) => one.failure) ? el("span", { className: "mark failed", title: "a world failed" }, "!") : null,
        said((one) => one.info && one.info.success) ? el("span", { className: "mark good", title: "success" }, "✓") : null,
      ];
      return el("button", { type: "button", className: `turn-row${number === turn ? " on" : ""}`, title: part.action || "the start", onclick: () => { this.seen = number === game.turn ? null : number; this.draw(); } },
        el("span", { className: "number" }, number || "start"), el("code", {}, brief(part.action || "")),
        part.by && part.by !== "you" ? el("span", { className: "by" }, part.by.split("/").pop()) : null, marks);
    });
    byId("turns").replaceChildren(...rows);
    const on = byId("turns").querySelector(".on");
    if (on) on.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  controls(game, turn) {
    const still = this.waiting || this.playing;
    const gestures = game.gestures.length ? [el("span", { className: "segment", role: "group", ariaLabel: "What a click does" }, game.gestures.map((name) =>
      el("button", { type: "button", ariaPressed: String(name === this.gesture), onclick: () => { this.gesture = name; this.draw(); } }, name)))] : [];
    const keys = Object.entries(game.keys).map(([name, action]) =>
      el("button", { type: "button", title: action, disabled: still || game.over, onclick: () => this.act(action) }, name));
    byId("keys").replaceChildren(...gestures, ...keys,
      el("button", { type: "button", disabled: still || game.over, title: "finish, or finish: ANSWER", onclick: () => this.fill("finish: ") }, "Finish …"));
    const failed = game.sides.some((side) => { const last = side.turns[side.turns.length - 1]; return side.turns.length === game.turn + 1 && last.failure && last.failure.retryable; });
    byId("again").hidden = !failed;
    byId("again").disabled = byId("save").disabled = still;
    byId("back").disabled = still || turn === 0;
    byId("action").disabled = game.over;
    byId("act").querySelector("button").disabled = byId("once").disabled = still || game.over;
    byId("onward").disabled = game.over || (this.waiting && !this.playing);
    byId("onward").textContent = this.playing ? "Stop" : "Play on";
    byId("open").hidden = game.saved === null;
    byId("open").title = game.saved || "";
  }
}

/* An action in few words: of JSON only what it holds. */
function brief(action) {
  if (!/^\s*[[{]/.test(action)) return action;
  const held = (value) => value !== null && typeof value === "object" ? Object.values(value).flatMap(held) : [String(value)];
  try { return held(JSON.parse(action)).join(" "); } catch { return action; }
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

const table = new Play();
table.choices().then(async () => {
  table.state = await table.fetched("state", {});
  if (table.state.game) { byId("setup").open = false; table.gesture = table.state.game.gestures[0] || null; }
  table.draw();
  document.documentElement.dataset.ready = "yes";
}).catch((error) => table.error(error));
