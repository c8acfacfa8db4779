/* One episode: its head, and a card for each step, whose body is made when it comes near. */

const VIEWS = [
  ["observation", "Observation"], ["change", "Change"], ["twin", "Twin"], ["screen", "Screen"],
  ["prompt", "Prompt"], ["thinking", "Thinking"], ["completion", "Completion"], ["details", "Details"],
];
const ALWAYS = ["observation", "change", "details"];
const AT_ONCE = 100;
const LONG = 20000;

class EpisodeView {
  constructor(run) {
    this.run = run;
    this.box = document.getElementById("episode");
    this.everywhere = "observation";
    this.parts = [];
    this.cards = [];
    this.at = 0;
    this.words = "";
    this.near = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        if (target === this.above) this.extend(-AT_ONCE);
        else if (target === this.below) this.extend(AT_ONCE);
        else this.fill(this.cards[target.dataset.place]);
      }
    }, { root: this.box, rootMargin: "1200px 0px" });
    this.above = el("div", { className: "more-above" });
    this.below = el("div", { className: "more-below" });
  }

  async show(episode, turn) {
    if (this.episode === episode) { this.asked = episode; this.go(turn); return; }
    this.asked = episode;
    const detail = await this.run.detail(episode);
    if (this.asked !== episode) return;
    this.episode = episode;
    this.near.disconnect();
    this.parts = [{ ...detail.start, turn: 0 }, ...detail.steps];
    this.cards = [];
    this.top = this.head(episode, detail.start);
    this.around(0);
    this.box.scrollTop = 0;
    this.mark(0);
    if (turn) this.go(turn);
  }

  /* Puts the cards around a step on the page; others come as they are scrolled to. */
  around(place) {
    this.first = Math.max(0, place - AT_ONCE / 2);
    this.last = Math.min(this.parts.length, this.first + AT_ONCE);
    this.box.replaceChildren(...(this.first ? [] : [this.top]), this.above, ...this.made(this.first, this.last), this.below);
    this.near.observe(this.above);
    this.near.observe(this.below);
  }

  /* Puts further cards at the end, or for a negative number at the beginning. */
  extend(number) {
    const first = Math.max(0, this.first + Math.min(0, number));
    const last = Math.min(this.parts.length, this.last + Math.max(0, number));
    if (first === this.first && last === this.last) return;
    this.above.after(...this.made(first, this.first));
    this.below.before(...this.made(this.last, last));
    if (!first && this.first) this.above.before(this.top);
    this.first = first;
    this.last = last;
    /* Where an end is still in sight, only a new observation of it says so. */
    for (const end of [this.above, this.below]) { this.near.unobserve(end); this.near.observe(end); }
  }

  made(first, last) {
    const elements = [];
    for (let place = first; place < last; place++) {
      this.cards[place] ??= this.card(place);
      this.near.observe(this.cards[place].element);
      elements.push(this.cards[place].element);
    }
    return elements;
  }

  head(episode, start) {
    const fact = (name, value) => value === undefined || value === "" ? null : el("span", {}, el("b", {}, name), ` ${value}`);
    const parts = Object.entries(episode.parts).map(([name, value]) => el("span", { className: "part" }, el("b", {}, name), ` ${signed(value)}`));
    const from = episode.parent === undefined ? null : this.link(episode.parent, episode.parentTurn, episode.run);
    return el("section", { className: "head" },
      el("button", { className: "back", type: "button", onclick: () => { location.hash = ""; } }, "← Episodes"),
      el("div", { className: "line" },
        el("span", { className: `badge ${kind(episode.outcome)}` }, `${MARKS[episode.outcome]} ${episode.outcome}`),
        episode.failure ? el("span", { className: "badge failure" }, episode.failure) : null,
        el("h2", {}, episode.task || episode.key)),
      start.instruction ? el("p", { className: "instruction" }, start.instruction) : null,
      el("p", { className: "facts" }, fact("episode", episode.key), fact("domain", episode.domain),
        fact("family", episode.family), fact("level", episode.level), fact("seed", episode.seed),
        fact("controls", episode.controls && Object.entries(episode.controls).map(([name, share]) => `${name} ${share}`).join(", ")),
        from && el("span", {}, el("b", {}, "fork of"), " ", from),
        episode.twin ? fact("twin", `${episode.twin}${episode.departs === undefined ? ", the same" : `, departs at ${episode.departs}`}`) : null),
      el("p", { className: "facts" }, el("span", { className: "part sum" }, el("b", {}, "return"), ` ${signed(episode.reward)}`), parts),
      start.system ? el("details", {}, el("summary", {}, "System prompt of the world"), el("pre", {}, this.marked(start.system))) : null,
      el("div", { className: "everywhere", role: "group", ariaLabel: "What every step shows" },
        el("span", {}, "Every step:"),
        VIEWS.filter(([view]) => ALWAYS.includes(view) || this.parts.some((part) => part[view] !== undefined)).map(([view, name]) =>
          el("button", { type: "button", name: view, className: view === this.everywhere ? "on" : "", onclick: () => this.all(view) }, name))));
  }

  link(parent, turn, run) {
    const key = this.run.byKey.has(parent) ? parent : `${run}.${parent}`;
    return el("a", { href: address(key, turn) }, `${key} at step ${turn}`);
  }

  /* What a step can show: name → a function that makes it. */
  views(place) {
    const part = this.parts[place], before = this.parts[place - 1];
    const views = new Map([["observation", () => part.shown === "" ? el("p", { className: "none" }, "(nothing)") : this.text(part.shown)]]);
    if (before && before.shown !== part.shown) views.set("change", () => diffed(before.shown, part.shown));
    if (part.twin !== undefined) views.set("twin", () => this.twin(part));
    if (part.screen !== undefined) views.set("screen", () => el("img", { src: this.run.screen(part.screen), alt: "a drawing of the screen" }));
    for (const name of ["prompt", "thinking", "completion"]) if (part[name]) views.set(name, () => this.text(part[name]));
    if (before) views.set("details", () => el("pre", {}, JSON.stringify(facts(part), null, 2)));
    return views;
  }

  card(place) {
    const part = this.parts[place], views = this.views(place);
    const body = el("div", { className: "body" });
    const tabs = VIEWS.filter(([view]) => views.has(view)).map(([view, name]) =>
      el("button", { type: "button", role: "tab", name: view, onclick: () => this.view(card, view) }, name,
        view === "twin" && part.twin !== part.shown ? el("i", { className: "dot", title: "differs" }) : null));
    const element = el("section", { className: `step${part.failure ? " failed" : ""}`, id: `step-${part.turn}` },
      el("header", {},
        el("a", { className: "turn", href: address(this.episode.key, part.turn), title: "a link to this step" }, place ? `${part.turn}` : "start"),
        el("pre", { className: "action" }, part.agent ? el("b", { className: "agent" }, `${part.agent}${part.kind ? ` (${part.kind})` : ""}: `) : null, place ? this.marked(part.action) : ""),
        el("span", { className: "numbers" }, numbers(part))),
      part.info && part.info.action_error ? el("p", { className: "error" }, part.info.action_error) : null,
      part.failure ? el("p", { className: "error" }, `the world failed (${part.failure.kind}): ${part.failure.message}`) : null,
      el("div", { className: "tabs", role: "tablist" }, tabs), body);
    element.dataset.place = place;
    const card = { part, place, element, body, views, tabs, view: null };
    element.addEventListener("focusin", () => this.mark(place));
    element.addEventListener("click", () => this.mark(place));
    return card;
  }

  fill(card) {
    if (card && card.view === null) this.view(card, this.everywhere);
  }

  view(card, wanted) {
    const view = card.views.has(wanted) ? wanted : "observation";
    card.view = view;
    card.body.replaceChildren(card.views.get(view)());
    for (const tab of card.tabs) tab.setAttribute("aria-selected", tab.name === view);
  }

  all(view) {
    this.everywhere = view;
    const place = this.at;
    for (const card of this.cards) if (card && card.view !== null) this.view(card, view);
    for (const button of this.box.querySelectorAll(".everywhere button")) button.classList.toggle("on", button.name === view);
    this.scroll(place);
  }

  twin(part) {
    const other = part.twinAction === undefined ? null : el("p", { className: "error" }, `the twin acted otherwise: ${part.twinAction}`);
    const same = part.twin === part.shown ? el("p", { className: "none" }, "the same in both worlds") : diffed(part.twin, part.shown, this.run.index.twin, this.run.index.title);
    return el("div", {}, other, same);
  }

  text(text) {
    const pre = el("pre", {}, this.marked(text.slice(0, LONG)));
    if (text.length <= LONG) return pre;
    const more = el("button", { className: "more", type: "button", onclick: () => { pre.replaceChildren(this.marked(text)); more.remove(); } },
      `… show all ${text.length.toLocaleString("en")} characters`);
    return el("div", {}, pre, more);
  }

  /* The text with what the search looks for in <mark>. */
  marked(text) {
    const made = document.createDocumentFragment();
    if (!this.words) { made.append(text); return made; }
    const low = text.toLowerCase(), words = this.words.toLowerCase();
    let place = 0;
    for (let hit = low.indexOf(words); hit >= 0 && low.length === text.length; hit = low.indexOf(words, place)) {
      made.append(text.slice(place, hit), el("mark", {}, text.slice(hit, hit + words.length)));
      place = hit + words.length;
    }
    made.append(text.slice(place));
    return made;
  }

  mark(place) {
    const before = this.cards[this.at];
    if (before) before.element.classList.remove("current");
    this.at = place;
    if (this.cards[place]) this.cards[place].element.classList.add("current");
  }

  /* Goes to the step of a number; of a step that was tried again, to its last try. */
  go(turn) {
    const place = this.parts.findLastIndex((part) => part.turn === turn);
    if (place >= 0) this.to(place);
  }

  to(place) {
    if (place < this.first || place >= this.last) this.around(place);
    this.mark(place);
    this.scroll(place);
  }

  scroll(place) {
    const card = this.cards[place];
    for (const near of this.cards.slice(Math.max(0, place - 2), place + 3)) if (near) this.fill(near);
    const show = () => card.element.scrollIntoView({ block: "start" });
    show();
    requestAnimationFrame(() => requestAnimationFrame(show));
  }
}

const NOTHING = { prompt: 0, completion: 0 };

function numbers(part) {
  const info = part.info || {}, tokens = info.tokens || NOTHING, checks = info.check_tokens;
  const spent = (told) => "prompt" in told ? `${told.prompt.toLocaleString("en")} → ${told.completion.toLocaleString("en")}` : "unknown";
  return [
    part.end ? el("span", { className: "end" }, part.end) : null,
    "success" in info ? el("span", { className: `badge ${info.success ? "success" : "no-success"}` }, info.success ? "success" : "no success") : null,
    tokens.prompt !== 0 || tokens.completion ? el("span", { title: `tokens of the world model${tokens.cached ? `, ${tokens.cached} from the cache` : ""}` }, `${spent(tokens)} tok`) : null,
    checks ? el("span", { title: "tokens of probes and judges" }, `checks ${spent(checks)}`) : null,
    part.seconds !== undefined ? el("span", { title: "from the action to the answer" }, part.seconds < 0.1 ? `${Math.round(part.seconds * 1000)} ms` : `${part.seconds.toFixed(2)} s`) : null,
    info.confidence !== undefined ? el("span", { title: "mean log-probability of a token" }, `conf ${(Math.round(100 * info.confidence) / 100 || 0).toFixed(2)}`) : null,
    part.reward ? el("span", { className: part.reward > 0 ? "good" : "", title: rewardParts(info) }, signed(part.reward)) : null,
  ];
}

function rewardParts(info) {
  return Object.entries(info.reward_parts || {}).map(([name, value]) => `${name} ${signed(value)}`).join(", ");
}

function facts(part) {
  const { turn, reward, info, seconds, seed, failure, agent, kind, end } = part;
  return { turn, reward, end, seconds, seed, agent, kind, ...info, failure };
}

function diffed(left, right, minus = null, plus = null) {
  const rows = folded(lineDiff(left, right));
  const marks = { "+": "add", "-": "del", "…": "fold", " ": "same" };
  const titles = minus === null ? [] : [el("span", { className: "del" }, `− ${minus}`), el("span", { className: "add" }, `+ ${plus}`)];
  return el("pre", { className: "diff" }, titles, rows.map(([mark, line]) =>
    el("span", { className: marks[mark] }, mark === "…" ? `… ${count(line, "equal line")}` : `${mark} ${line}`)));
}
