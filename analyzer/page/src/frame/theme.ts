// Dark and light: as the system has it, until the reader chooses.

type Theme = "dark" | "light";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
    const chosen = document.documentElement.dataset.theme;
    return chosen === "dark" || chosen === "light" ? chosen : dark.matches ? "dark" : "light";
}

/** Changes to the other theme. */
export function toggleTheme(): void {
    document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
    window.dispatchEvent(new Event("themechange"));
}

/** Calls `redraw` whenever colours change. */
export function onTheme(redraw: () => void): void {
    window.addEventListener("themechange", redraw);
    dark.addEventListener("change", redraw);
}

/** Has the colours of the style sheet one after another, of which each is one of two. */
const probe = document.createElement("span");
probe.hidden = true;

/** A colour of the style sheet, as pictures need it. */
export function colour(name: "text" | "dim" | "line" | "back" | "card" | "cell" | "accent"): string {
    if (!probe.isConnected) {
        document.body.append(probe);
    }
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
}
