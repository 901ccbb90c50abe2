// The runs of the study.
import type { PanelOf } from "../frame/panel";
import { table } from "../frame/table";
import { count, percent, seconds, secondsLike } from "../wording/words";
import type { StudyRunRow, StudyData } from "../generated/studydata.generated";

export const runs: PanelOf<StudyData> = {
    id: "runs",
    title: "Runs",
    about: "The runs of the study, and what each loses.",
    missing: (data) => (data.runs.length > 0 ? null : "There are no runs in this study."),
    build(host, data) {
        const longest = Math.max(...data.runs.map((run) => run.elapsed_s));
        const several = new Set(data.runs.map((run) => run.program)).size > 1;
        const share = (title: string, of: (run: StudyRunRow) => number | null) => ({ title, cell: (run: StudyRunRow) => percent(of(run)), by: of, right: true });
        const time = (title: string, of: (run: StudyRunRow) => number | null) => ({ title, cell: (run: StudyRunRow) => secondsLike(of(run), longest), by: of, right: true });
        const param = (name: string) => ({ title: name, cell: (run: StudyRunRow) => number(run.params[name]), by: (run: StudyRunRow) => run.params[name] ?? null, right: true });
        host.append(
            table<StudyRunRow>({
                caption: "Runs",
                rows: data.runs,
                first: 40,
                columns: [
                    { title: "run", cell: (run) => `${run.number}${run.complete ? "" : " (incomplete)"}`, by: (run) => run.number, right: true },
                    ...(several ? [{ title: "program", cell: (run: StudyRunRow) => run.program }] : []),
                    { title: "ranks", cell: (run) => count(run.ranks), by: (run) => run.ranks, right: true },
                    ...data.params.map(param),
                    time("elapsed", (run) => run.elapsed_s),
                    time("longest computation", (run) => run.max_computation_s),
                    time("ideal", (run) => run.t_ideal_s),
                    share("parallel efficiency", (run) => run.parallel),
                    share("load balance", (run) => run.load_balance),
                    share("micro load balance", (run) => run.micro_load_balance),
                    share("transfer", (run) => run.transfer),
                ],
            }),
            table<StudyRunRow>({
                caption: "Where and when",
                rows: data.runs,
                first: 40,
                columns: [
                    { title: "run", cell: (run) => String(run.number), by: (run) => run.number, right: true },
                    { title: "command", cell: (run) => run.command.join(" ") },
                    { title: "host", cell: (run) => run.hosts.join(", ") },
                    { title: "started", cell: (run) => new Date(1000 * run.started_unix_s).toISOString().slice(0, 19).replace("T", " "), by: (run) => run.started_unix_s },
                    { title: "elapsed", cell: (run) => seconds(run.elapsed_s), by: (run) => run.elapsed_s, right: true },
                ],
            }),
        );
    },
};

/** A parameter's value, a dash where the run has none. */
export function number(value: number | null | undefined): string {
    if (value === null || value === undefined || !Number.isFinite(value)) {
        return "–";
    }
    const size = Math.abs(value);
    if (value !== 0 && (size >= 1e6 || size < 1e-3)) {
        return value.toExponential(2).replace("-", "−").replace("e+", "e");
    }
    return Number.isInteger(value) ? (value < 0 ? "−" : "") + count(size) : String(Number(value.toPrecision(4))).replace("-", "−");
}
