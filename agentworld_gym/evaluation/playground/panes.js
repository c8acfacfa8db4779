/* One world at one turn: what it shows, how sure it was, and where it differs from the other one. */

const LOOKS = [["screen", "Screen"], ["session", "Session"], ["text", "Text"], ["change", "Change"], ["model", "Model"]];
const LONGEST = 60000;
const ZOOMS = [1, 1.5, 2, 3];

class Pane {
  constructor(play, number) {
    this.play = play;
    this.number = number;
    this.look = "screen";
  }

  /* Makes the pane of a turn, or of the last one that the world took; `other` is the same turn in the other world, if
     there is one. */
  draw(side, wanted, other, live) {
    const turn = Math.min(wanted, side.turns.length - 1), part = side.turns[turn];
    if (turn < wanted) other = undefined;
    const looks = this.looks(side, turn, other, live);
    const look = looks.has(this.look) ? this.look : looks.keys().next().value;
    const differs = other !== undefined && (other.shown !== part.shown || Boolean(other.failure) !== Boolean(part.failure));
    const tabs = LOOKS.filter(([name]) => looks.has(name)).map(([name, told]) =>
      el("button", { type: "button", role: "tab", ariaSelected: String(name === look), onclick: () => { this.look = name; this.play.draw(); } }, told,
        differs && name === looks.keys().next().value ? el("i", { className: "dot", title: "differs from the other world" }) : null));
    return el("section", { className: `pane${part.failure ? " failed" : ""}` },
      el("header", {}, el("h2", { title: side.model || side.kind }, side.world), el("span", { className: "numbers" }, numbers(part)),
        el("p", { className: "badges" }, this.badges(side, turn, other, differs))),
      turn < wanted ? el("p", { className: "error" }, `This world stopped at turn ${turn}.`) : null,
      this.notes(part),
      el("div", { className: "tabs", role: "tablist" }, tabs, look === "screen" ? this.lens() : null),
      el("div", { className: `body ${look}` }, looks.get(look)()),
      el("footer", { className: "sums" }, sums(side, turn)));
  }

  lens() {
    const { play } = this;
    const change = (by) => () => { play.zoom = Math.min(ZOOMS.length - 1, Math.max(0, play.zoom + by)); play.draw(); };
    return el("span", { className: "lens" },
      el("button", { type: "button", title: "Smaller", ariaLabel: "Smaller", disabled: play.zoom === 0, onclick: change(-1) }, "−"),
      el("button", { type: "button", title: "Larger", ariaLabel: "Larger", disabled: play.zoom === ZOOMS.length - 1, onclick: change(1) }, "+"));
  }

  badges(side, turn, other, differs) {
    const part = side.turns[turn];
    const least = this.play.least;
    const grounds = part.grounds || (part.probability !== undefined && part.probability < least);
    return [
      other === undefined ? null : el("span", { className: `badge ${differs ? "failure" : "success"}` }, differs ? "differs" : "the same"),
      part.probability === undefined ? null : el("span", { className: "badge", title: "the probability that the model gives to its whole answer" }, `p ${part.probability.toFixed(part.probability < 0.01 ? 4 : 2)}`),
      grounds ? el("span", { className: "badge failure guard", title: "a guard with the remedy `ground` would take the answer of the grounded world here" }, `a guard at ${least.toFixed(2)} would ground this`) : null,
      part.info && part.info.source ? el("span", { className: "badge" }, `answered by ${part.info.source}`) : null,
      part.end && !("success" in part.info) ? el("span", { className: "badge" }, "success was not tested") : null,
    ];
  }

  notes(part) {
    const failure = part.failure, info = part.info || {};
    return [
      failure ? el("p", { className: "error" }, `The world failed (${failure.kind}${failure.retryable ? ", may pass" : ""}): ${failure.message}`) : null,
      info.action_error && info.action_error !== part.shown ? el("p", { className: "error" }, info.action_error) : null,
      info.collateral && info.collateral.length ? el("p", { className: "error" }, `changed beside the task: ${info.collateral.slice(0, 8).join(", ")}`) : null,
    ];
  }

  /* What can be seen of a turn: name → a function that makes it. */
  looks(side, turn, other, live) {
    const part = side.turns[turn], before = side.turns[turn - 1];
    const looks = new Map();
    if (part.screen !== undefined) looks.set("screen", () => this.picture(side, part, live));
    else looks.set("session", () => session(side, turn, other === undefined ? null : this.play.state.game.sides[1 - this.number]));
    looks.set("text", () => apart(part.shown, other === undefined ? part.shown : other.shown));
    if (before && before.shown !== part.shown) looks.set("change", () => diffed(before.shown, part.shown));
    if (part.prompt || part.completion) looks.set("model", () => written(part));
    return looks;
  }

  picture(side, part, live) {
    const places = live ? side.places : [];
    const spot = el("i", { className: "spot", hidden: true }), label = el("span", { className: "label", hidden: true });
    const image = el("img", { alt: "a drawing of the screen" });
    const box = el("div", { className: `picture${live ? " live" : ""}` }, image, spot, label);
    image.draggable = false;
    const put = (mark, [x, y, width, height]) => {
      Object.assign(mark.style, {
        left: `${(100 * x) / image.naturalWidth}%`, top: `${(100 * y) / image.naturalHeight}%`,
        width: `${(100 * width) / image.naturalWidth}%`, height: `${(100 * height) / image.naturalHeight}%`,
      });
      return mark;
    };
    const at = (event) => {
      const seen = image.getBoundingClientRect();
      return [
        Math.min(image.naturalWidth - 1, Math.max(0, Math.floor(((event.clientX - seen.left) / seen.width) * image.naturalWidth))),
        Math.min(image.naturalHeight - 1, Math.max(0, Math.floor(((event.clientY - seen.top) / seen.height) * image.naturalHeight))),
      ];
    };
    image.addEventListener("load", () => {
      box.classList.toggle("tall", image.naturalHeight > image.naturalWidth * 1.8);
      box.style.setProperty("--zoom", ZOOMS[this.play.zoom]);
      box.style.aspectRatio = `${image.naturalWidth} / ${image.naturalHeight}`;
      for (const place of places) if (place.differs) box.append(put(el("i", { className: "apart", title: "the other world shows this otherwise" }), place.box));
      box.dataset.ready = "yes";
    });
    image.addEventListener("error", () => box.replaceChildren(el("p", { className: "error" }, "This screen cannot be drawn here (pictures need the extra `render`); the text is complete."), el("pre", {}, part.shown)));
    image.src = `picture/${part.screen}`;
    if (!live) return box;
    box.addEventListener("mousemove", (event) => {
      const found = placeAt(places, ...at(event));
      spot.hidden = label.hidden = found < 0;
      if (found < 0) return;
      put(spot, places[found].box);
      label.textContent = [places[found].role, places[found].label].filter(Boolean).join(" ").slice(0, 80);
    });
    box.addEventListener("mouseleave", () => { spot.hidden = label.hidden = true; });
    image.addEventListener("click", (event) => this.play.point(this.number, ...at(event), placeAt(places, ...at(event))));
    return box;
  }
}

/* The number of the smallest place at a point, of equal ones the last; -1 where there is none. */
function placeAt(places, x, y) {
  let found = -1, least = Infinity;
  places.forEach(({ box: [left, top, width, height] }, number) => {
    if (x < left || x >= left + width || y < top || y >= top + height || width * height > least) return;
    found = number;
    least = width * height;
  });
  return found;
}

/* All turns so far, each answer with its differences to the other world. */
function session(side, turn, other) {
  return el("div", {}, side.turns.slice(0, turn + 1).map((part, number) => {
    const twin = other === null ? part : other.turns[number];
    return el("section", {},
      number ? el("p", { className: "asked" }, el("b", {}, number), ` ${part.action}`) : null,
      part.failure ? el("p", { className: "error" }, `the world failed (${part.failure.kind})`)
        : number && part.seconds === undefined ? null : apart(part.shown, twin === undefined ? part.shown : twin.shown));
  }));
}

/* A text whose lines that another text lacks are marked. */
function apart(text, other) {
  if (text === "") return el("p", { className: "none" }, "(nothing)");
  if (text.length > LONGEST) return el("pre", {}, `${text.slice(0, LONGEST)}\n… ${(text.length - LONGEST).toLocaleString("en")} more characters`);
  const rows = lineDiff(text, other).filter(([mark]) => mark !== "+");
  return el("pre", { className: "apart" }, rows.map(([mark, line]) => el("span", { className: mark === "-" ? "differs" : "" }, line)));
}

function written(part) {
  const told = [["prompt", "The turn, as the world model was asked"], ["thinking", "What it thought"], ["completion", "What it wrote"]];
  return el("div", {}, told.filter(([name]) => part[name]).map(([name, title]) => el("section", {}, el("h3", {}, title), el("pre", {}, part[name].slice(0, LONGEST)))));
}

/* What the episode took in a world up to a turn. */
function sums(side, turn) {
  const parts = side.turns.slice(1, turn + 1);
  const sum = (value) => parts.reduce((total, part) => total + (value(part) || 0), 0);
  const tokens = (name) => sum((part) => part.info && part.info.tokens && part.info.tokens[name]);
  const told = [`return ${signed(sum((part) => part.reward))}`, `${sum((part) => part.seconds).toFixed(1)} s`];
  if (parts.some((part) => part.info && part.info.tokens && !("prompt" in part.info.tokens))) told.push("tokens unknown");
  else if (tokens("completion") || tokens("prompt")) told.push(`${tokens("prompt").toLocaleString("en")} → ${tokens("completion").toLocaleString("en")} tok`);
  return `So far: ${told.join(" · ")}`;
}
