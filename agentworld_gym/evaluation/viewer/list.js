/* The list of episodes: only the rows in sight are elements of the page. */

const ROW = 58;
const MARKS = { success: "✓", "no success": "✗", failure: "!", untested: "–", "not over": "…" };

class EpisodeList {
  constructor(open) {
    this.box = document.getElementById("list");
    this.rows = document.getElementById("rows");
    this.open = open;
    this.shown = [];
    this.matches = null;
    this.current = null;
    this.box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.move(step);
    });
  }

  set(shown, matches) {
    this.shown = shown;
    this.matches = matches;
    this.rows.style.height = `${shown.length * ROW}px`;
    this.draw();
  }

  select(key) {
    this.current = key;
    const place = this.place();
    if (place >= 0) {
      const top = place * ROW, room = this.box.clientHeight;
      if (top < this.box.scrollTop) this.box.scrollTop = top;
      else if (top + ROW > this.box.scrollTop + room) this.box.scrollTop = top + ROW - room;
    }
    this.draw();
  }

  place() {
    return this.shown.findIndex((episode) => episode.key === this.current);
  }

  move(step) {
    if (!this.shown.length) return;
    const place = this.place();
    const next = place < 0 ? 0 : Math.min(this.shown.length - 1, Math.max(0, place + step));
    this.open(this.shown[next].key);
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 5);
    const last = Math.min(this.shown.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + 5);
    const drawn = [];
    for (let place = first; place < last; place++) drawn.push(this.row(this.shown[place], place));
    this.rows.replaceChildren(...drawn);
    this.box.setAttribute("aria-activedescendant", `row-${this.place()}`);
  }

  row(episode, place) {
    const found = this.matches && this.matches.get(episode.key);
    const chosen = episode.key === this.current;
    const about = [episode.level ? `level ${episode.level}` : "", `seed ${episode.seed}`, count(episode.steps, "step")];
    const row = el("div", { className: "row", id: `row-${place}`, role: "option", onclick: () => this.open(episode.key) },
      el("span", { className: `mark ${kind(episode.outcome)}`, title: episode.outcome }, MARKS[episode.outcome]),
      el("span", { className: "task", title: episode.task }, episode.task || episode.key),
      el("span", { className: "reward" }, signed(episode.reward)),
      el("span", { className: "about" }, `${episode.key} · ${about.filter(Boolean).join(" · ")}`),
      found && found.length ? el("span", { className: "hits", title: "steps that the search found" }, `${found.length}`)
        : episode.departs !== undefined ? el("span", { className: "departs", title: "the twin departs here" }, `⇄ ${episode.departs}`) : null);
    row.style.top = `${place * ROW}px`;
    row.setAttribute("aria-selected", chosen);
    row.setAttribute("aria-setsize", this.shown.length);
    row.setAttribute("aria-posinset", place + 1);
    return row;
  }
}

const kind = (outcome) => outcome.replace(" ", "-");
