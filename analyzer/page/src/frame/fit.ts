// Tables that are wider than their place: each row becomes lines of its cells that say something, with the heads of their columns.

const FOLDED = "folded";

/** Folds the tables in `body` that have no room for all of their columns, whenever their size or their content changes. */
export function keepFitting(body: HTMLElement): void {
    let isDue = false;
    const fitSoon = () => {
        if (!isDue) {
            isDue = true;
            requestAnimationFrame(() => {
                isDue = false;
                fitTables([...body.querySelectorAll<HTMLElement>(".table")]);
            });
        }
    };
    new ResizeObserver(fitSoon).observe(body);
    new MutationObserver((changes) => changes.some(isOfTable) && fitSoon()).observe(body, { childList: true, subtree: true });
}

function isOfTable({ target, addedNodes }: MutationRecord): boolean {
    const has = (node: Node) => node instanceof Element && (node.matches(".table") || node.querySelector(".table") !== null);
    return (target as Element).closest(".table") !== null || [...addedNodes].some(has);
}

function fitTables(tables: HTMLElement[]): void {
    tables.forEach((one) => one.classList.remove(FOLDED));
    const wide = tables.filter((one) => one.scrollWidth > one.clientWidth + 1);
    for (const table of wide) {
        table.classList.add(FOLDED);
        const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent ?? "");
        for (const row of table.querySelectorAll<HTMLTableRowElement>("tbody tr")) {
            [...row.cells].slice(1).forEach((cell, at) => {
                cell.dataset.head = heads[at + 1] ?? "";
                cell.classList.toggle("nothing", cell.textContent === "–");
            });
        }
    }
}
