/* The lines in which two texts differ. */

const MOST_CELLS = 4e6;
const CONTEXT = 3;

/* Returns rows `[mark, line]`, with " " for a line of both, "-" for one of the left text, "+" for one of the right. */
function lineDiff(left, right) {
  const a = left.split("\n"), b = right.split("\n");
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = changed(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const same = (line) => [" ", line];
  return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)];
}

/* By the longest common subsequence; where it would take too long, everything is taken for changed. */
function changed(a, b) {
  const gone = (line) => ["-", line], come = (line) => ["+", line];
  if (!a.length || !b.length || a.length * b.length > MOST_CELLS) return [...a.map(gone), ...b.map(come)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const rows = [];
  let i = 0, j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) { rows.push([" ", a[i]]); i++; j++; }
    else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) rows.push(gone(a[i++]));
    else rows.push(come(b[j++]));
  }
  return [...rows, ...a.slice(i).map(gone), ...b.slice(j).map(come)];
}

/* Returns the rows of a difference with long stretches of equal lines folded to `["…", number]`. */
function folded(rows) {
  const near = new Uint8Array(rows.length);
  rows.forEach(([mark], place) => {
    if (mark === " ") return;
    for (let k = Math.max(0, place - CONTEXT); k <= Math.min(rows.length - 1, place + CONTEXT); k++) near[k] = 1;
  });
  const shown = [];
  for (let place = 0; place < rows.length;) {
    if (near[place]) { shown.push(rows[place++]); continue; }
    let end = place;
    while (end < rows.length && !near[end]) end++;
    shown.push(["…", end - place]);
    place = end;
  }
  return shown;
}
