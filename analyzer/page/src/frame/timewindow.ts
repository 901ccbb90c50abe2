// The time window that all views with a time axis show. It is part of the address, so that a view can be shared.
import { formatAddress, parseAddress, type Address, type TimeWindow } from "./address";

export type { TimeWindow } from "./address";

type Listener = (window: TimeWindow | null) => void;

let shown: TimeWindow | null = null;
const listeners = new Map<unknown, Listener>();

/** The current address. */
export function address(): Address {
    return parseAddress(window.location.hash);
}

/** The window, or null if it is the whole run. */
export function timeWindow(): TimeWindow | null {
    return shown;
}

/** Puts the window into the address of the panel that is shown; a step in the browser's history is none. */
export function keepAddress(): void {
    const { panel, find, selection } = address();
    const hash = formatAddress({ panel, find, ...selection, window: shown });
    if (hash !== window.location.hash && hash !== "#") {
        history.replaceState(null, "", hash);
    }
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
