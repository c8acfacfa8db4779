"use strict";

/* The data of the run: packed JSON in elements of this page, unpacked when it is asked for. */

const CACHED_CHUNKS = 40;

async function unpacked(id) {
  const stream = new Blob([decodedBytes(document.getElementById(id).textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function decodedBytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  return Uint8Array.from({ length: letters.length }, (_, place) => letters.charCodeAt(place));
}

class Run {
  constructor(index) {
    this.index = index;
    this.episodes = index.episodes;
    this.byKey = new Map(this.episodes.map((episode, place) => [episode.key, place]));
    this.chunks = new Map();
  }

  static async open() {
    return new Run(await unpacked("index"));
  }

  get chunkCount() {
    return this.episodes.length ? this.episodes[this.episodes.length - 1].chunk + 1 : 0;
  }

  chunk(number) {
    if (!this.chunks.has(number)) {
      if (this.chunks.size >= CACHED_CHUNKS) this.chunks.delete(this.chunks.keys().next().value);
      this.chunks.set(number, unpacked(`chunk-${number}`));
    }
    return this.chunks.get(number);
  }

  /* Resolves to the start and the steps of an episode, with texts in place of their numbers. */
  async detail(episode) {
    const { texts, episodes } = await this.chunk(episode.chunk);
    const { start, steps } = episodes[episode.place];
    const named = (part) => {
      const read = { ...part };
      for (const name of TEXTS) if (name in part) read[name] = texts[part[name]];
      return read;
    };
    return { start: named(start), steps: steps.map(named) };
  }

  /* Calls `found(episode, turns)` for each episode in which a text holds the words; `alive` says whether to go on. */
  async search(words, found, alive) {
    const wanted = words.toLowerCase();
    const members = new Map();
    for (const episode of this.episodes) {
      if (!members.has(episode.chunk)) members.set(episode.chunk, []);
      members.get(episode.chunk).push(episode);
    }
    for (const [number, episodes] of members) {
      const chunk = this.chunks.has(number) ? await this.chunks.get(number) : await unpacked(`chunk-${number}`);
      if (!alive()) return;
      const hits = new Set();
      chunk.texts.forEach((text, place) => { if (text.toLowerCase().includes(wanted)) hits.add(place); });
      const holds = (part) => TEXTS.some((name) => hits.has(part[name]));
      for (const episode of episodes) {
        const { start, steps } = chunk.episodes[episode.place];
        const turns = steps.filter(holds).map((step) => step.turn);
        if (holds(start)) turns.unshift(0);
        if (turns.length || episode.task.toLowerCase().includes(wanted)) found(episode, turns);
      }
    }
  }

  screen(number) {
    return `data:image/webp;base64,${document.getElementById(`screen-${number}`).textContent}`;
  }
}

const TEXTS = ["action", "shown", "instruction", "system", "prompt", "thinking", "completion", "twin", "twinAction"];

/* An element; what stands in it is text or elements, never HTML. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list" && name !== "role") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(2);

/* The hash that leads to an episode, or to a step of it. */
const address = (key, turn) => `#${encodeURIComponent(key)}${turn === undefined ? "" : `/${turn}`}`;
