"use strict";
// What the data- attributes of a page do. The browser in process does the same without a script.

// What a click brings up first; false keeps the click from doing anything.
function asked(element) {
  const { confirm, prompt, promptField, alert } = element.dataset;
  if (confirm !== undefined) return window.confirm(confirm);
  if (prompt !== undefined) {
    const answer = window.prompt(prompt);
    if (answer === null) return false;
    if (promptField && element.form) setField(element.form, promptField, answer);
    return true;
  }
  if (alert !== undefined) window.alert(alert);
  return true;
}

function setField(form, name, value) {
  let field = form.elements.namedItem(name);
  if (!field) {
    field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    form.append(field);
  }
  field.value = value;
}

// What a button opens, closes, unfolds or selects.
function clicked(element) {
  const { opens, closes, toggles } = element.dataset;
  const dialog = opens && document.getElementById(opens);
  if (dialog && !dialog.open) dialog.showModal();
  if (closes !== undefined) element.closest("dialog")?.close();
  const target = toggles && document.getElementById(toggles);
  if (target) {
    target.hidden = !target.hidden;
    element.setAttribute("aria-expanded", String(!target.hidden));
  }
  if (element.getAttribute("role") === "tab") selectTab(element);
}

function selectTab(tab) {
  const bar = tab.closest("[role=tablist]");
  if (!bar) return;
  for (const other of bar.querySelectorAll("[role=tab]")) {
    other.setAttribute("aria-selected", String(other === tab));
    const panel = document.getElementById(other.getAttribute("aria-controls"));
    if (panel) panel.hidden = other !== tab;
  }
}

// Hides the rows of a list that lack what was typed.
function filtered(field) {
  const list = document.getElementById(field.dataset.filter);
  if (!list) return;
  const wanted = field.value.toLowerCase();
  for (const row of list.children) {
    if (row.matches("li, tr")) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
}

document.addEventListener("click", (event) => {
  const element = event.target.closest("a[href], button, input, [role=tab]");
  if (!element || element.disabled) return;
  if (asked(element)) clicked(element);
  else event.preventDefault();
});
document.addEventListener("input", (event) => {
  if (event.target.dataset.filter !== undefined) filtered(event.target);
});
document.addEventListener("change", (event) => {
  if (event.target.dataset.submitOnChange !== undefined) event.target.form?.requestSubmit();
});
for (const dialog of document.querySelectorAll("dialog[data-modal]:not([open])")) dialog.showModal();
