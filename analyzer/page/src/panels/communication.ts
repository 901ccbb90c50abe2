// Communication between ranks, and the sizes of messages.
import { choice, el, field } from "../frame/dom";
import { RankMatrix, type Place } from "../pictures/matrix";
import { OTHERS_COLOUR, stateColour } from "../pictures/palette";
import { NOT_REPLAYED } from "../wording/emptyreasons";
import type { Data, Panel } from "../frame/panel";
import type { CommunicationTable, CommunicatorRow, HostVolume, OperationSizes, SizeRow, SiteRow } from "../generated/report.generated";
import { bar, table } from "../frame/table";
import type { Pairs } from "../data/views";
import { bytes, count, percent, plural, seconds } from "../wording/words";
import { sitePlace } from "./listing/callsites";

export const communication: Panel = {
    id: "communication",
    title: "Communication",
    about: "Who sends how much to whom, how large messages are, and how long single calls take.",
    missing: ({ report }) => (report.communication ? null : report.selection?.region ? "Messages are counted of all of the run or of a window: make the page without --region." : `Messages are not known. ${NOT_REPLAYED}`),
    build(host, data) {
        const of = data.report.communication as CommunicationTable;
        const left = of.messages_left_out > 0 ? ` ${plural(of.messages_left_out, "message")} (${bytes(of.bytes_left_out)}) are of pairs with fewer bytes than those that the report lists.` : "";
        const none = "No point-to-point messages: ranks use collectives alone, or both sides of none are known.";
        host.append(el("p", {}, of.messages === 0 ? none : `${plural(of.messages, "message")} with ${bytes(of.bytes)}, of which both sides are known.${left}`));
        const draw = of.messages > 0 && data.views.bytes ? matrix(host, data) : () => {};
        host.append(el("div", { class: "columns" }, sizesOf(of), hosts(of)), communicators(of), durations(data.report.callsites));
        return draw;
    },
};

/** Senders are rows, receivers columns. */
function matrix(host: HTMLElement, data: Data): () => void {
    const { views } = data;
    const made = (what: "bytes" | "messages") => {
        const text = what === "bytes" ? bytes : (n: number) => count(n);
        const words = (amount: number) => (what === "bytes" ? bytes(amount) : plural(amount, "message"));
        const describe = ({ row, column, isPair, amount, largest }: Place) => [
            `${row} to ${column}`,
            Number.isNaN(amount) ? "nothing" : words(amount),
            ...(isPair || Number.isNaN(amount) ? [] : [`of these at most ${words(largest)} from one rank to another`]),
        ];
        return new RankMatrix(data, { title: "Who (row) sends to whom (column)", label: "Who sends to whom", text, describe, logarithmic: true }, views[what] as Pairs);
    };
    let shown = made("bytes");
    const place = el("div", {}, shown.element);
    const select = choice([["bytes", "bytes"], ["messages", "messages"]], "bytes", (value) => {
        shown = made(value as "bytes" | "messages");
        place.replaceChildren(shown.element);
        shown.draw();
    });
    host.append(el("div", { class: "controls" }, field("coloured by", select)), place);
    return () => shown.draw();
}

function sizesOf(of: CommunicationTable): HTMLElement {
    const all: OperationSizes[] = [{ operation: "all messages", calls: of.messages, bytes: of.bytes, sizes: of.message_sizes }, ...of.operations].filter((one) => one.calls > 0);
    const place = el("div");
    const show = (at: number) => place.replaceChildren(sizes(all[at]));
    const select = choice(all.map((one, at): [string, string] => [String(at), one.operation]), "0", (value) => show(Number(value)));
    if (all.length > 0) {
        show(0);
    }
    return el("div", {}, el("h3", {}, "Sizes"), el("div", { class: "controls" }, field("of", select)), place);
}

function range(row: SizeRow): string {
    return row.from_bytes === row.to_bytes ? bytes(row.from_bytes) : `${bytes(row.from_bytes)} to ${bytes(row.to_bytes)}`;
}

function sizes(of: OperationSizes): HTMLElement {
    const most = Math.max(...of.sizes.map((row) => row.count));
    return table<SizeRow>({
        caption: `${count(of.calls)} with ${bytes(of.bytes)}`,
        rows: of.sizes,
        first: 40,
        columns: [
            { title: "size", cell: range, by: (row) => row.from_bytes },
            { title: "count", cell: (row) => bar(row.count / most, count(row.count), stateColour("point-to-point")), by: (row) => row.count },
            { title: "bytes", cell: (row) => bytes(row.bytes), by: (row) => row.bytes, right: true },
        ],
    });
}

function hosts(of: CommunicationTable): HTMLElement | null {
    const left = of.hosts_left_out > 0 ? `; ${plural(of.hosts_left_out, "more pair")} of hosts with ${plural(of.host_messages_left_out, "message")} (${bytes(of.host_bytes_left_out)})` : "";
    return of.hosts.length < 2
        ? null
        : table<HostVolume>({
              caption: `By host${left}`,
              rows: of.hosts,
              columns: [
                  { title: "from", cell: (row) => row.from || "not known" },
                  { title: "to", cell: (row) => row.to || "not known" },
                  { title: "messages", cell: (row) => count(row.messages), by: (row) => row.messages, right: true },
                  { title: "bytes", cell: (row) => bytes(row.bytes), by: (row) => row.bytes, right: true },
              ],
          });
}

function communicators(of: CommunicationTable): HTMLElement {
    return table<CommunicatorRow>({
        caption: "By communicator",
        rows: of.communicators,
        columns: [
            { title: "communicator", cell: (row) => row.name || "none, or not known" },
            { title: "ranks", cell: (row) => (row.ranks === null ? "–" : count(row.ranks)), by: (row) => row.ranks, right: true },
            { title: "calls", cell: (row) => count(row.calls), by: (row) => row.calls, right: true },
            { title: "time", time: (row) => row.time_s, bar: () => OTHERS_COLOUR, suffix: (row) => ` (${percent(row.share)})` },
            { title: "waiting", term: "waiting", time: (row) => row.waiting_s },
            { title: "sent", cell: (row) => bytes(row.sent_bytes), by: (row) => row.sent_bytes, right: true },
            { title: "received", cell: (row) => bytes(row.received_bytes), by: (row) => row.received_bytes, right: true },
        ],
    });
}

function durations(rows: SiteRow[]): HTMLElement {
    const known = rows.filter((row) => row.durations !== null);
    const of = (row: SiteRow) => row.durations as NonNullable<SiteRow["durations"]>;
    return table<SiteRow>({
        caption: "How long single calls take",
        rows: known,
        first: 15,
        columns: [
            { title: "call", cell: (row) => row.operation },
            { title: "at", term: "call site", cell: sitePlace },
            { title: "calls", cell: (row) => count(of(row).calls), by: (row) => of(row).calls, right: true },
            { title: "shortest", cell: (row) => `${seconds(of(row).min_s)} (${of(row).min_rank})`, by: (row) => of(row).min_s, right: true },
            { title: "mean", cell: (row) => seconds(of(row).mean_s), by: (row) => of(row).mean_s, right: true },
            { title: "longest (rank)", cell: (row) => `${seconds(of(row).max_s)} (${of(row).max_rank})`, by: (row) => of(row).max_s, right: true },
            { title: "standard deviation", cell: (row) => seconds(of(row).deviation_s), by: (row) => of(row).deviation_s, right: true },
        ],
    });
}
