// Functional views: the points of a relation, the curve through them, what is left, and how well each degree predicts.
import { choice, el, field } from "../frame/dom";
import { CATEGORIES } from "../pictures/palette";
import type { PanelOf } from "../frame/panel";
import { table } from "../frame/table";
import { colour } from "../frame/theme";
import { percent, ratio, seconds } from "../wording/words";
import type { ProgramModels, RelationRow, StudyData } from "../generated/studydata.generated";
import { Plot, type PlotSpec } from "./plot";
import { number } from "./runs";

export const models: PanelOf<StudyData> = {
    id: "models",
    title: "Models",
    about: "How operations, quanta and times depend on the ranks, parameters and each other: polynomials of degree 0 to 4, chosen by leaving each run out once.",
    missing: (data) => (data.programs.some((one) => one.relations.length > 0) ? null : ["No relation was found: a model needs runs that differ.", ...data.problems].join(" ")),
    build(host, data) {
        const programs = data.programs.filter((one) => one.relations.length > 0);
        const place = el("div");
        let draw = () => {};
        const fill = (at: number) => {
            place.replaceChildren();
            draw = program(place, programs[at]);
            draw();
        };
        if (programs.length > 1) {
            const names = programs.map((one, at): [string, string] => [String(at), one.program]);
            host.append(el("div", { class: "controls" }, field("program", choice(names, "0", (value) => fill(Number(value))))));
        }
        host.append(place);
        fill(0);
        return () => draw();
    },
};

function program(host: HTMLElement, of: ProgramModels): () => void {
    // Of the laws the one of operations says most.
    let shown = of.relations.find((one) => one.is_law) ?? of.relations[0];
    const title = el("h3", {});
    const about = el("p", { class: "hint" });
    const plots = [points(shown), residuals(shown), errors(shown)].map((spec) => new Plot(spec));
    const figures = plots.map((plot) => el("figure", {}, el("figcaption", {}), plot.element));
    const fill = () => {
        title.textContent = `${shown.to} against ${shown.from}`;
        about.textContent = sentence(shown);
        [points(shown), residuals(shown), errors(shown)].forEach((spec, at) => {
            figures[at].hidden = spec.series.every((series) => series.x.length === 0);
            (figures[at].firstChild as HTMLElement).textContent = spec.label;
            plots[at].show(spec);
        });
    };
    const names = of.relations.map((one, at): [string, string] => [String(at), `${one.to} against ${one.from}`]);
    const select = choice(names, String(of.relations.indexOf(shown)), (value) => {
        shown = of.relations[Number(value)];
        fill();
    });
    host.append(
        el("div", { class: "controls" }, field("relation", select)),
        title,
        about,
        el("div", { class: "plots" }, ...figures),
        table<RelationRow>({
            caption: "All relations; a click on one shows it",
            rows: of.relations,
            first: 30,
            choose: (row) => {
                shown = row;
                select.value = String(of.relations.indexOf(row));
                fill();
                title.scrollIntoView({ block: "center" });
            },
            columns: [
                { title: "of", cell: (row) => row.to },
                { title: "against", cell: (row) => row.from },
                { title: "equation", cell: (row) => row.equation ?? row.problem ?? "–" },
                { title: "error", cell: (row) => percent(row.relative_error), by: (row) => row.relative_error, right: true },
                { title: "R²", cell: (row) => ratio(row.r_squared), by: (row) => row.r_squared, right: true },
                { title: "runs", cell: (row) => String(row.points.length), by: (row) => row.points.length, right: true },
            ],
        }),
    );
    fill();
    return () => plots.forEach((plot) => plot.draw());
}

function sentence(of: RelationRow): string {
    const held = Object.entries(of.held).map(([name, value]) => `${name} = ${number(value)}`);
    const where = held.length > 0 ? ` Of runs with ${held.join(", ")}.` : "";
    if (of.equation === null) {
        return `No model: ${of.problem ?? "not known"}.${where}`;
    }
    const what = of.independent ? "It does not depend on it: no degree but 0 predicts it better. " : "";
    const error = of.relative_error === null ? "" : `; runs that are left out are predicted with an error of ${percent(of.relative_error)}`;
    return `${what}${of.equation}${error}.${where}`;
}

const value = (of: RelationRow) => (of.is_time ? seconds : number);

function points(of: RelationRow): PlotSpec {
    const runs = { name: "run", x: of.points.map((point) => point.x), y: of.points.map((point) => point.y), colour: CATEGORIES[0], kind: "points" as const };
    const curve = { name: of.is_law ? "law" : `degree ${of.degree ?? "–"}`, x: of.curve.map(([x]) => x), y: of.curve.map(([, y]) => y), colour: colour("accent"), kind: "line" as const };
    return { label: `${of.to} against ${of.from}: runs, and the curve through them`, series: [runs, ...(of.curve.length > 0 ? [curve] : [])], height: 300, text: value(of), xText: number };
}

function residuals(of: RelationRow): PlotSpec {
    const known = of.points.filter((point) => point.residual !== null);
    const series = { name: "run less curve", x: known.map((point) => point.x), y: known.map((point) => point.residual), colour: CATEGORIES[0], kind: "points" as const };
    return { label: "Residuals: what is left of each run", series: [series], height: 220, text: value(of), xText: number, around: true };
}

function errors(of: RelationRow): PlotSpec {
    const series = { name: "error", x: of.errors.map((one) => one.degree), y: of.errors.map((one) => one.error), colour: CATEGORIES[2], kind: "bars" as const };
    const chosen = of.degree === null ? "" : `; degree ${of.degree} ${of.is_law ? "would be" : "is"} chosen`;
    return { label: `Cross-validation error of polynomials by degree${chosen}`, series: [series], height: 220, text: value(of), xText: (x) => `degree ${x}`, places: of.errors.map((one) => one.degree) };
}
