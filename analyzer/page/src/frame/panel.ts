// A panel of the page: built once when it is first shown, drawn again whenever its size or the colours change.
import type { Report } from "../generated/report.generated";
import type { Views } from "../data/views";

export interface Data {
    report: Report;
    views: Views;
}

export type Panel = PanelOf<Data>;

/** A panel of a page of other data. */
export interface PanelOf<Data> {
    id: string;
    title: string;
    /** One sentence on what the panel is for. */
    about: string;
    /** The entry of the menu that it is a view of; one of its own, by its title, where none is named. */
    entry?: string;
    /** True if an entry of the menu with nothing in it is left out. */
    isOptional?: boolean;
    /** The reason why the panel is empty for these data, or null if it is not. */
    missing?(data: Data): string | null;
    /** Fills `host`; returns what draws its pictures. `host` gets the event `selection` with what a link points out. */
    build(host: HTMLElement, data: Data): (() => void) | void;
}
