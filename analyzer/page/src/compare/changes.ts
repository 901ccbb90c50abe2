// All changes by place and by function.
import type { ComparisonDocument, FunctionChange, ReasonRow } from "../generated/comparisondocument.generated";
import type { PanelOf } from "../frame/panel";
import { table } from "../frame/table";
import { seconds, shortPath } from "../wording/words";
import { changeColumns } from "./changecolumns";

export const changes: PanelOf<ComparisonDocument> = {
    id: "changes",
    title: "Code",
    about: "The change of each place's own time, mean over ranks, and of the CPU time of functions by samples.",
    build(host, { places, functions }) {
        host.append(
            table<ReasonRow>({
                caption: "By place",
                rows: places,
                columns: [
                    { title: "what", cell: (row) => row.what },
                    { title: "in", term: "region", cell: (row) => (row.region === null ? "–" : shortPath(row.region)) },
                    ...changeColumns<ReasonRow>(),
                    { title: "noise", cell: (row) => (row.beyond_noise ? "" : "within noise") },
                ],
            }),
        );
        if (functions) {
            host.append(
                table<FunctionChange>({
                    caption: "By function",
                    rows: functions,
                    columns: [{ title: "function", cell: (row) => row.function }, ...changeColumns<FunctionChange>(), { title: "standard error", cell: (row) => seconds(row.error_s), by: (row) => row.error_s, right: true }],
                }),
            );
        }
    },
};
