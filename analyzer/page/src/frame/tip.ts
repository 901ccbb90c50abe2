// One floating note for the whole page: explains the term under the pointer or with the focus, and shows values of a picture.
import { GLOSSARY } from "../wording/glossary";
import { el } from "./dom";

const note = el("div", { id: "tip", role: "tooltip", hidden: true });

/** Marks `element` as a term of the glossary: it is explained on hover and on focus. */
export function explain<T extends HTMLElement>(element: T, term: string | undefined): T {
    if (term !== undefined && term in GLOSSARY) {
        element.dataset.term = term;
        element.setAttribute("aria-describedby", "tip");
        if (element.tabIndex < 0) {
            element.tabIndex = 0;
        }
    }
    return element;
}

/** A word that the glossary explains; `text` where it is written otherwise. */
export function term(name: string, text = name): HTMLElement {
    return explain(el("span", { class: name in GLOSSARY ? "term" : undefined }, text), name);
}

/** Shows `lines` beside a point of the window. */
export function showAt(x: number, y: number, lines: string[]): void {
    note.replaceChildren(...lines.map((line) => el("div", {}, line)));
    note.hidden = false;
    const { offsetWidth, offsetHeight } = note;
    const left = x + 16 + offsetWidth > window.innerWidth ? x - 16 - offsetWidth : x + 16;
    const top = y + 16 + offsetHeight > window.innerHeight ? y - 16 - offsetHeight : y + 16;
    note.style.left = `${Math.max(4, left)}px`;
    note.style.top = `${Math.max(4, top)}px`;
}

export function hideTip(): void {
    note.hidden = true;
}

function explained(target: EventTarget | null): HTMLElement | null {
    return target instanceof Element ? target.closest<HTMLElement>("[data-term]") : null;
}

function showTerm(element: HTMLElement): void {
    const box = element.getBoundingClientRect();
    const name = element.dataset.term!;
    showAt(box.left - 16, box.bottom - 12, [GLOSSARY[name]]);
}

/** Makes terms explain themselves; called once. */
export function installTips(): void {
    document.body.append(note);
    const enter = (event: Event) => {
        const element = explained(event.target);
        if (element) {
            showTerm(element);
        }
    };
    const leave = (event: Event) => {
        if (explained(event.target)) {
            hideTip();
        }
    };
    document.addEventListener("pointerover", enter);
    document.addEventListener("focusin", enter);
    document.addEventListener("pointerout", leave);
    document.addEventListener("focusout", leave);
    document.addEventListener("keydown", (event) => {
        if (event.key === "Escape") {
            hideTip();
        }
    });
}
