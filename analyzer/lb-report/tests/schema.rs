//! The JSON Schemas of the report and of the data of both pages, docs/{report,page-data,study-page-data,compare}.schema.json: they are made
//! from the structs that are written, and their comments. `scripts/document-keys` makes the tables of the documents from them.
//!
//! `UPDATE_SCHEMA=1 cargo test -p lb-report schema` writes them; without it the tests fail where they are not what the rows make.
//! `npm run build` in analyzer/page makes the types of the page from the schemas.

use std::path::PathBuf;

use lbprof_report::html::schema::{make_page_schema, make_report_schema, make_schema};
use lbprof_study::compare::output::json::ComparisonDocument;
use lbprof_study::html::StudyData;
use schemars::Schema;
use serde_json::Value;

/// The command that writes the generated files.
const COMMAND: &str = "UPDATE_SCHEMA=1 cargo test -p lb-report schema";

/// Returns a schema that says that it is generated.
fn mark_generated(mut schema: Schema) -> Value {
    let note = format!("Generated from analyzer/report/src/ and analyzer/study/src/ by `{COMMAND}`; do not edit.");
    schema.insert("$comment".to_owned(), note.into());
    let mut value = schema.to_value();
    on_one_line(&mut value);
    value
}

/// Descriptions are broken into lines as comments are.
fn on_one_line(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            map.values_mut().for_each(on_one_line);
        }
        Value::Array(list) => list.iter_mut().for_each(on_one_line),
        _ => {}
    }
}

fn docs(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Fails where a file of docs/ is not `expected`, or writes it.
fn assert_is(name: &str, expected: &str) {
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(docs(name), expected).unwrap();
    }
    let written = std::fs::read_to_string(docs(name)).unwrap_or_default();
    assert!(written == expected, "docs/{name} is not what the rows of the report make: {COMMAND}");
}

/// Fails where a document of docs/ has no place for the keys of an object or list of a schema, or one for a key that the schema lacks
/// (`scripts/document-keys` fills them in).
fn assert_places(name: &str, schema_name: &str, schema: &Value) {
    let text = std::fs::read_to_string(docs(name)).unwrap();
    let marks = text.lines().filter_map(|line| line.strip_prefix("<!-- keys of ")?.strip_suffix(" -->"));
    let places: Vec<&str> = marks.filter_map(|mark| mark.strip_suffix(&format!(" in {schema_name}"))).collect();
    assert!(places.contains(&"the document"), "docs/{name} has no place for the keys of the document");
    for place in places.iter().filter(|place| **place != "the document") {
        assert!(
            schema["properties"][place].is_object(),
            "docs/{name} has a place for {place}, which the document lacks"
        );
    }
}

/// Returns the descriptions that are missing, by the path of their property.
fn undescribed(value: &Value, path: &str, missing: &mut Vec<String>) {
    for (name, property) in value["properties"].as_object().into_iter().flatten() {
        let is_described = property["description"].is_string() || property["$ref"].is_string();
        if !is_described {
            missing.push(format!("{path}.{name}"));
        }
    }
    for (name, definition) in value["$defs"].as_object().into_iter().flatten() {
        undescribed(definition, name, missing);
    }
}

/// Whether the value of a key is an object of the document's own, or a list of such.
fn schema_has_inner_keys(value: &Value) -> bool {
    value.to_string().contains("$ref")
}

#[test]
fn the_published_schema_is_that_of_the_rows() {
    let schema = mark_generated(make_report_schema());
    assert_is("report.schema.json", &format!("{schema:#}\n"));
    assert_places("report-json.md", "report.schema.json", &schema);
}

#[test]
fn the_schema_of_the_pages_data_is_that_of_the_views() {
    let schema = mark_generated(make_page_schema());
    assert_is("page-data.schema.json", &format!("{schema:#}\n"));
    assert_places("page-data.md", "page-data.schema.json", &schema);
}

#[test]
fn the_schema_of_the_page_of_a_study_is_that_of_its_rows() {
    let schema = mark_generated(make_schema::<StudyData<'static>>());
    assert_is("study-page-data.schema.json", &format!("{schema:#}\n"));
    assert_places("study-page-data.md", "study-page-data.schema.json", &schema);
}

#[test]
fn the_schema_of_a_comparison_is_that_of_its_rows() {
    let schema = mark_generated(make_schema::<ComparisonDocument<'static>>());
    assert_is("compare.schema.json", &format!("{schema:#}\n"));
    let document = std::fs::read_to_string(docs("compare-json.md")).unwrap();
    for key in schema["properties"].as_object().unwrap().keys() {
        let place = format!("<!-- keys of {key} in compare.schema.json -->");
        let has_place = document.contains(&place) || !schema_has_inner_keys(&schema["properties"][key]);
        assert!(has_place, "docs/compare-json.md lacks the place for the keys of {key}");
    }
}

#[test]
fn each_key_of_the_schemas_is_described() {
    let schemas = [
        make_report_schema(),
        make_page_schema(),
        make_schema::<StudyData<'static>>(),
        make_schema::<ComparisonDocument<'static>>(),
    ];
    for schema in schemas {
        let mut missing = Vec::new();
        undescribed(&mark_generated(schema), "the document", &mut missing);
        assert!(missing.is_empty(), "keys without a description: {missing:?}");
    }
}
