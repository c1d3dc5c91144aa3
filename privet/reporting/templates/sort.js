"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") === "descending";
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const value = (row) => row.cells[column].dataset.value;
    const order = (one, other) => (column ? value(one) - value(other) : value(one).localeCompare(value(other)));
    const rows = [...table.tBodies[0].rows].sort((one, other) => (up ? order(one, other) : order(other, one)));
    table.tBodies[0].append(...rows);
  }));
}
