// The window of time that all views with a time axis show. It stands in the address, so that a view can be sent to others.

/** Seconds from the begin of the run. */
export interface TimeWindow {
    from: number;
    to: number;
}

type Listener = (window: TimeWindow | null) => void;

let shown: TimeWindow | null = null;
const listeners = new Map<unknown, Listener>();

/** What the address says: the panel, and what it shows. */
export function address(): { panel: string; window: TimeWindow | null; find: string | null } {
    const [panel, rest = ""] = window.location.hash.slice(1).split("?");
    const options = new URLSearchParams(rest);
    const [from, to] = (options.get("t") ?? "").split("-").map(Number);
    const isWindow = Number.isFinite(from) && Number.isFinite(to) && from < to;
    return { panel, window: isWindow ? { from, to } : null, find: options.get("find") };
}

/** The window; null: all of the run. */
export function timeWindow(): TimeWindow | null {
    return shown;
}

/** Puts the window into the address of the panel that is shown; a step in the browser's history is none. */
export function keepAddress(): void {
    const { panel, find } = address();
    const options = [shown && `t=${digits(shown.from)}-${digits(shown.to)}`, find && `find=${encodeURIComponent(find)}`].filter(Boolean).join("&");
    const hash = options ? `#${panel}?${options}` : `#${panel}`;
    if (hash !== window.location.hash && (panel || options)) {
        history.replaceState(null, "", hash);
    }
}

/** Enough digits for any zoom. */
function digits(seconds: number): string {
    return String(Number(Math.max(seconds, 0).toPrecision(9)));
}

/** Shows a window in all views but that of `by`, which shows it already. */
export function showWindow(window: TimeWindow | null, by: unknown): void {
    shown = window;
    keepAddress();
    for (const [whose, listener] of listeners) {
        if (whose !== by) {
            listener(window);
        }
    }
}

/** Calls `listener` of `whose` view when another changes the window. */
export function onWindow(whose: unknown, listener: Listener): void {
    listeners.set(whose, listener);
}
