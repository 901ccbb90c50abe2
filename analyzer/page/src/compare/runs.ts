// The runs of both sides.
import type { ComparedRun, ComparisonDocument } from "../generated/comparisondocument.generated";
import type { PanelOf } from "../frame/panel";
import { table } from "../frame/table";
import { count } from "../wording/words";

export const comparedRuns: PanelOf<ComparisonDocument> = {
    id: "runs",
    title: "Runs",
    about: "The runs that are compared.",
    build(host, data) {
        for (const [name, side] of [["Base", data.base], ["New", data.new]] as const) {
            host.append(
                table<ComparedRun>({
                    caption: `${name} runs`,
                    rows: side,
                    columns: [
                        { title: "run", cell: (row) => `${row.name}${row.complete ? "" : " (incomplete)"}` },
                        { title: "command", cell: (row) => row.command.join(" ") },
                        { title: "ranks", cell: (row) => count(row.ranks), by: (row) => row.ranks, right: true },
                        { title: "elapsed", time: (row) => row.elapsed_s },
                    ],
                }),
            );
        }
    },
};
