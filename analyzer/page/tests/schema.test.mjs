// Reports are as docs/report.schema.json says: those in the pages, of simulated runs, and of real programs where their tests have run. The pages'
// own data are as docs/page-data.schema.json and docs/study-page-data.schema.json say.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { FOLDER, dataOf, studyOf } from "./data.mjs";

/** The first few places where a document is not as its schema says. */
function checker(name) {
    const schema = JSON.parse(readFileSync(new URL(`../../../docs/${name}.schema.json`, import.meta.url), "utf8"));
    // Formats say how wide a number is.
    const validate = new Ajv({ allErrors: true, allowUnionTypes: true, validateFormats: false }).compile(schema);
    return (document) => (validate(document) ? [] : validate.errors.slice(0, 5).map((error) => `${error.instancePath} ${error.message}`));
}

const wrong = checker("report");
const wrongViews = checker("page-data");
const wrongStudy = checker("study-page-data");

for (const name of ["small", "hostile", "sums", "gaps", "large"]) {
    test(`the data in the page of ${name} are as their schemas say`, () => {
        const { report, views } = dataOf(name);
        assert.deepEqual(wrong(report), []);
        assert.deepEqual(wrongViews(views), []);
    });
}

for (const name of ["study", "hostile-study"]) {
    test(`the data in the page of ${name} are as their schema says`, () => {
        const study = studyOf(name);
        assert.deepEqual(wrongStudy(study), []);
        assert.notDeepEqual(wrongStudy({ ...study, runs: [{ ...study.runs[0], ranks: "2" }] }), []);
    });
}

test("reports of simulated runs and real programs are as the schema says", () => {
    const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
    assert.ok(names.length >= 4, "scripts/tests/page made them");
    for (const name of names) {
        assert.deepEqual(wrong(JSON.parse(readFileSync(`${FOLDER}/${name}`, "utf8"))), [], name);
    }
});

test("a report is not as the schema says where a key is missing or a figure is text", () => {
    const { report } = dataOf("small");
    assert.deepEqual(wrong({ ...report, findings: undefined }), [" must have required property 'findings'"]);
    assert.deepEqual(wrong({ ...report, efficiency: { ...report.efficiency, transfer: "1" } }), ["/efficiency/transfer must be number,null"]);
    const predictions = [{ ...report.predictions[0], scenario: 1 }];
    assert.deepEqual(wrong({ ...report, predictions }), ["/predictions/0/scenario must be string"]);
});
