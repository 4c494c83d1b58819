// Tables: sorting by a column, filtering by text, by what columns hold and by the choice of the page ------------------------------------

class SortedTable {
  constructor(root) {
    this.table = root.querySelector("table");
    this.body = this.table.tBodies[0];
    this.rows = [...this.body.rows];
    this.heads = [...this.table.tHead.rows[0].cells];
    this.column = null;
    this.falling = false;
    this.subject = this.findSubject();
    // Whether the table's own filters let a row through.
    this.passes = () => true;
    this.count = element("output");
    this.heads.forEach((head, i) => {
      const button = element("button", { type: "button", textContent: head.textContent, onclick: () => this.sort(i) });
      head.replaceChildren(button);
    });
    if (this.rows.length >= 8) root.before(this.filters(root));
    choiceFollowers.push(() => this.update(root));
  }

  // The columns by which a row is of a scene, of targets and of a level, and the columns that are a level each.
  findSubject() {
    const titles = this.heads.map((head) => head.textContent);
    const columns = (...wanted) => titles.flatMap((title, i) => (wanted.includes(title) ? [i] : []));
    const levels = titles.flatMap((title, i) => (/^\d+ spp$/.test(title) ? [[i, title.split(" ")[0]]] : []));
    return { scene: columns("Scene"), targets: columns("Target", "Pair", "A : B", "A", "B"), spp: columns("spp"), levels };
  }

  // Whether a row is about what the page is about. A column without a value leaves that open.
  isChosen(row) {
    const text = (i) => row.cells[i].dataset.v ?? row.cells[i].textContent;
    const { scene, targets, spp } = this.subject;
    const names = targets.map(text).filter(Boolean);
    return scene.every((i) => text(i) === "" || isOfScene(text(i))) && spp.every((i) => text(i) === "" || isOfLevel(text(i))) &&
      (names.length === 0 || isOfTargets(names.flatMap(targetsOf)));
  }

  // Shows the rows and columns that all filters let through.
  update(root) {
    for (const row of this.rows) row.hidden = !this.passes(row) || !this.isChosen(row);
    for (const [i, spp] of this.subject.levels) {
      for (const row of [this.table.tHead.rows[0], ...this.rows]) row.cells[i].hidden = !isOfLevel(spp);
    }
    const shown = this.rows.filter((row) => !row.hidden).length;
    this.count.textContent = shown === this.rows.length ? "" : `${shown} of ${this.rows.length} rows`;
    const chosen = this.rows.filter((row) => this.isChosen(row)).length;
    if (!root.closest(".metrics")) tellShare(root.closest("details.part"), chosen, this.rows.length);
    this.markRepeats();
  }

  // Rising, falling, and back to the order of the study.
  sort(column) {
    if (this.column !== column) [this.column, this.falling] = [column, false];
    else if (!this.falling) this.falling = true;
    else this.column = null;
    this.heads.forEach((head, i) => {
      if (i === this.column) head.ariaSort = this.falling ? "descending" : "ascending";
      else head.removeAttribute("aria-sort");
    });
    const sorted = this.column === null ? this.rows : [...this.rows].sort((a, b) => this.compare(a, b));
    this.body.append(...sorted);
    this.markRepeats();
  }

  // Cells without a value come last, whichever way the others run.
  compare(a, b) {
    const [x, y] = [a, b].map((row) => this.value(row.cells[this.column]));
    if (x === null || y === null) return (x === null) - (y === null);
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en");
    return this.falling ? -order : order;
  }

  value(cell) {
    const text = cell.dataset.v ?? cell.textContent;
    if (text === "" || text === "nan") return null;
    if (!cell.classList.contains("n")) return text;
    const value = Number(text === "inf" ? Infinity : text === "-inf" ? -Infinity : text);
    return Number.isNaN(value) ? text : value;
  }

  filters(root) {
    const text = element("input", { type: "search", placeholder: "Filter rows", ariaLabel: `Filter: ${root.ariaLabel}` });
    const menus = this.heads.flatMap((head, i) => (head.classList.contains("n") ? [] : this.menu(head.textContent, i)));
    this.passes = (row) => {
      const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
      const content = row.textContent.toLowerCase();
      return words.every((word) => content.includes(word)) &&
        menus.every(({ column, input }) => input.value === "" || row.cells[column].textContent === input.value);
    };
    const apply = () => this.update(root);
    const inputs = new Map([["rows", text], ...menus.map(({ title, input }) => [title, input])]);
    const changed = () => { apply(); this.remember(root, inputs); };
    text.oninput = changed;
    for (const { input } of menus) input.onchange = changed;
    // Applies the choice in the address, now and when it changes.
    const recall = () => {
      const { asked } = readAddress();
      if (asked.get("table") !== root.ariaLabel) return;
      for (const [title, input] of inputs) input.value = asked.get(title) ?? "";
      const part = root.closest("details");
      if (part) part.open = true;
      apply();
    };
    recall();
    addEventListener("hashchange", recall);
    return element("div", { className: "filters" }, text, ...menus.map((menu) => menu.input), this.count);
  }

  // Puts the filters into the address, so that a link to what is seen can be passed on.
  remember(root, inputs) {
    const set = [...inputs].filter(([, input]) => input.value !== "").map(([title, input]) => [title, input.value]);
    writeAddress(root.closest("section").id, set.length > 0 ? [["table", root.ariaLabel], ...set] : []);
  }

  // A menu of what a column of words holds, where that is few things.
  menu(title, column) {
    const held = [...new Set(this.rows.map((row) => row.cells[column].textContent))];
    if (held.length < 2 || held.length > 30 || held.length > this.rows.length / 2) return [];
    const option = (textContent, value) => element("option", { textContent, value });
    const options = [option(`${title}: all`, ""), ...held.map((text) => option(text || "(none)", text))];
    return [{ title, column, input: element("select", { ariaLabel: title }, ...options) }];
  }

  // Cells that repeat the row above are faint.
  markRepeats() {
    let above = null;
    for (const row of [...this.body.rows].filter((row) => !row.hidden)) {
      const text = row.cells[0].textContent;
      row.cells[0].classList.toggle("again", text === above);
      above = text;
    }
  }
}

// The tables of the first screen are short and stay as they are.
for (const root of document.querySelectorAll("main .table")) new SortedTable(root);
