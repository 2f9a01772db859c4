// Filters of the lists on a page, and the search over the site. Without scripts every list is whole.
"use strict";

const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
const hasAll = (text, wanted) => wanted.every((word) => text.includes(word));

const filter = (form) => {
  const rows = [...document.querySelectorAll(`#${form.dataset.list} [data-words]`)];
  const selects = [...form.querySelectorAll("select")];
  const apply = () => {
    const wanted = words(form.elements.q.value);
    let shown = 0;
    for (const row of rows) {
      const fits = hasAll(row.dataset.words, wanted) && selects.every(
        ({ name, value }) => !value || row.dataset[name].split("|").includes(value));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length}`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
};

const MOST = 100;
const search = (form, index) => {
  const list = document.getElementById("found");
  const told = form.querySelector("output");
  const apply = () => {
    const wanted = words(form.elements.q.value);
    const kind = form.elements.kind.value;
    const found = wanted.length === 0 && !kind ? [] : index.filter(
      ([what, title, , more]) => (!kind || what === kind)
        && hasAll(`${title} ${more}`.toLowerCase(), wanted));
    // Those whose title has the words come before those that only speak of them.
    found.sort((a, b) => hasAll(b[1].toLowerCase(), wanted) - hasAll(a[1].toLowerCase(), wanted));
    list.replaceChildren(...found.slice(0, MOST).map(([what, title, address, more]) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = address;
      link.textContent = title;
      const beside = document.createElement("small");
      beside.textContent = `${what} · ${more}`;
      item.append(link, beside);
      return item;
    }));
    const shown = found.length > MOST ? `, the first ${MOST} are shown` : "";
    told.textContent = wanted.length || kind ? `${found.length} found${shown}` : "";
  };
  const asked = new URLSearchParams(location.search);
  form.elements.q.value = asked.get("q") ?? "";
  form.elements.kind.value = asked.get("kind") ?? "";
  form.addEventListener("input", apply);
  apply();
};

document.querySelectorAll("form[data-list]").forEach(filter);
const everywhere = document.getElementById("search");
if (everywhere) search(everywhere, window.wiretrialIndex);
