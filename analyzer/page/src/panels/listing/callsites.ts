// The call sites of MPI.
import { el, field } from "../../frame/dom";
import { stateColour } from "../../pictures/palette";
import { NO_CALLS } from "../../wording/emptyreasons";
import type { Panel } from "../../frame/panel";
import type { SiteRow } from "../../generated/report.generated";
import { table } from "../../frame/table";
import { baseName, bytes, count, percent } from "../../wording/words";

/** Function, file and line, as far as they are known. */
export function sitePlace(site: Pick<SiteRow, "function" | "file" | "line" | "module" | "offset">): string {
    if (site.function === null) {
        return `${site.module?.split("/").at(-1) ?? "unknown"}+0x${(site.offset ?? 0).toString(16)}`;
    }
    const name = site.function.replace(/\(.*$/s, "") || site.function;
    return site.file === null ? `${name} (+0x${(site.offset ?? 0).toString(16)})` : `${name} (${baseName(site.file)}:${site.line})`;
}

export const callSites: Panel = {
    id: "callsites",
    title: "Call sites",
    about: "Where the program calls MPI, the most costly first.",
    missing: ({ report }) => (report.callsites.length > 0 ? null : NO_CALLS),
    build(host, { report }) {
        const place = el("div");
        const filter = el("input", { type: "search", size: 32, placeholder: "function, file or operation", oninput: () => fill() });
        const fill = () => {
            const wanted = filter.value.toLowerCase();
            const rows = report.callsites.filter((site) => `${site.operation} ${sitePlace(site)} ${site.file ?? ""} ${site.activity}`.toLowerCase().includes(wanted));
            place.replaceChildren(siteTable(rows));
        };
        host.addEventListener("find", (event) => {
            filter.value = (event as CustomEvent<string>).detail;
            fill();
        });
        fill();
        host.append(el("div", { class: "controls" }, field("only with", filter)), place);
    },
};

function siteTable(rows: SiteRow[]): HTMLElement {
    return table<SiteRow>({
        caption: "Call sites; mean over ranks",
        rows,
        first: 25,
        columns: [
            { title: "call", cell: (row) => row.operation },
            { title: "at", term: "call site", cell: (row) => el("span", { title: [row.function, row.file, row.module].filter(Boolean).join("\n") }, sitePlace(row)) },
            { title: "mean", time: (row) => row.mean_s, bar: (row) => stateColour(row.activity) },
            { title: "waiting", term: "waiting", time: (row) => row.blocked_mean_s, suffix: (row) => (row.blocked_share === null ? "" : ` (${percent(row.blocked_share)})`) },
            { title: "longest", time: (row) => row.max_s },
            { title: "on rank", cell: (row) => String(row.max_rank), by: (row) => row.max_rank, right: true },
            { title: "calls", cell: (row) => count(row.calls), by: (row) => row.calls, right: true },
            { title: "bytes", cell: (row) => (row.bytes ? bytes(row.bytes) : "–"), by: (row) => row.bytes, right: true },
        ],
    });
}
