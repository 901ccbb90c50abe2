// The part of the page's address after `#`: the panel that is shown, and what is shown in it. A link to it leads others to the same view.

/** Seconds from the begin of the run. */
export interface TimeWindow {
    from: number;
    to: number;
}

/** Numbers of iterations. */
export interface IterationRange {
    first: number;
    last: number;
}

/** The part of the run that a link points out; null: it says nothing of it. */
export interface Selection {
    rank: number | null;
    region: string | null;
    iterations: IterationRange | null;
}

export interface Address {
    panel: string;
    window: TimeWindow | null;
    /** The text that the panel searches for. */
    find: string | null;
    selection: Selection;
}

/** A link's target: the panel, and what is known of the rest. */
export type Target = Partial<Pick<Address, "window" | "find">> & Partial<Selection> & { panel: string };

/** Reads the part of an address from `#` on. */
export function parseAddress(hash: string): Address {
    const [panel, rest = ""] = hash.replace(/^#/, "").split("?");
    const options = new URLSearchParams(rest);
    const [from, to] = numbers(options.get("t"));
    const [first, last] = numbers(options.get("iterations"));
    const rank = options.get("rank");
    return {
        panel,
        window: from < to ? { from, to } : null,
        find: options.get("find"),
        selection: {
            rank: rank !== null && /^\d+$/.test(rank) ? Number(rank) : null,
            region: options.get("region"),
            iterations: first <= last ? { first, last } : null,
        },
    };
}

/** Two numbers, `3-7`; not a number where there are none. */
function numbers(text: string | null): [number, number] {
    const [low, high] = (text ?? "").split("-").map((part) => (part === "" ? NaN : Number(part)));
    return [low, high ?? NaN];
}

/** Writes an address. */
export function formatAddress({ panel, window, find, rank, region, iterations }: Target): string {
    const options = [
        window && `t=${digits(window.from)}-${digits(window.to)}`,
        typeof rank === "number" && `rank=${rank}`,
        region && `region=${encodeURIComponent(region)}`,
        iterations && `iterations=${iterations.first}-${iterations.last}`,
        find && `find=${encodeURIComponent(find)}`,
    ].filter(Boolean);
    return options.length > 0 ? `#${panel}?${options.join("&")}` : `#${panel}`;
}

/** Enough digits for any zoom, without an exponent, whose sign would separate two numbers. */
function digits(seconds: number): string {
    return Number(Math.max(seconds, 0).toPrecision(9))
        .toFixed(12)
        .replace(/\.?0+$/, "");
}

/** Returns whether an address points to something. */
export function isSelected({ rank, region, iterations }: Selection): boolean {
    return rank !== null || region !== null || iterations !== null;
}

/**
 * Whether a row of a table, which is of this rank or region, belongs to the selection: it has what is selected, as far as the row says.
 */
export function isPointedOut(selection: Selection, row: { rank?: number | null; region?: string | null }): boolean {
    const compared = [
        row.rank !== undefined && selection.rank !== null ? row.rank === selection.rank : null,
        row.region !== undefined && selection.region !== null ? row.region === selection.region : null,
    ].filter((same) => same !== null);
    return compared.length > 0 && compared.every(Boolean);
}
