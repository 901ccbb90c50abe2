//! The JSON Schemas of the report and of the data of both pages, docs/{report,page-data,study-page-data}.schema.json, and the tables of
//! docs/report-json.md, docs/page-data.md and docs/study-page-data.md: all are made from the structs that are written, and their comments.
//!
//! `UPDATE_SCHEMA=1 cargo test -p lb-report schema` writes them; without it the tests fail where they are not what the rows make.
//! `npm run build` in analyzer/page makes the types of the page from the schemas.

use std::fmt::Write;
use std::path::PathBuf;

use lbprof_report::schema::{make_page_schema, make_report_schema, make_schema};
use lbprof_study::html::StudyData;
use schemars::Schema;
use serde_json::{Map, Value};

/// The definition of an array whose keys docs/page-data.md describes once.
const PACKED: &str = "Packed";

/// The command that writes the generated files.
const COMMAND: &str = "UPDATE_SCHEMA=1 cargo test -p lb-report schema";

/// Returns a schema that says that it is generated.
fn mark_generated(mut schema: Schema) -> Value {
    let note = format!("Generated from analyzer/report/src/ by `{COMMAND}`; do not edit.");
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

/// Fails where the tables of a document of docs/ are not those of a schema.
fn assert_tables(name: &str, schema: &Value) {
    let text = std::fs::read_to_string(docs(name)).unwrap();
    let mut tables = Tables { schema, described: Vec::new() };
    assert_is(name, &tables.filled_in(&text));
}

#[test]
fn the_published_schema_and_the_tables_of_keys_are_those_of_the_rows() {
    let schema = mark_generated(make_report_schema());
    assert_is("report.schema.json", &format!("{schema:#}\n"));
    assert_tables("report-json.md", &schema);
}

#[test]
fn the_schema_of_the_pages_data_and_the_tables_of_its_keys_are_those_of_the_views() {
    let schema = mark_generated(make_page_schema());
    assert_is("page-data.schema.json", &format!("{schema:#}\n"));
    assert_tables("page-data.md", &schema);
}

#[test]
fn the_schema_of_the_page_of_a_study_and_the_table_of_its_keys_are_those_of_its_rows() {
    let schema = mark_generated(make_schema::<StudyData<'static>>());
    assert_is("study-page-data.schema.json", &format!("{schema:#}\n"));
    assert_tables("study-page-data.md", &schema);
}

/// The tables of keys.
struct Tables<'a> {
    schema: &'a Value,
    /// Definitions and the keys at which their own keys were described.
    described: Vec<(&'a str, String)>,
}

impl<'a> Tables<'a> {
    /// The text with its tables made anew: each stands between `<!-- keys of KEY -->` and `<!-- end -->`; that of the document has no KEY.
    fn filled_in(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("<!-- keys of ") {
            let (key, after) = after.split_once(" -->").expect("the end of a mark");
            let (_, after) = after.split_once("<!-- end -->").expect("the end of a table");
            write!(out, "{before}<!-- keys of {key} -->\n{}<!-- end -->", self.table(key)).unwrap();
            rest = after;
        }
        out + rest
    }

    fn table(&mut self, key: &str) -> String {
        let mut table = "| key | type | meaning |\n|---|---|---|\n".to_owned();
        match key {
            "the document" => {
                for (name, property) in properties(self.schema) {
                    self.row(name, property, &mut table);
                }
            }
            key => {
                let property = &self.schema["properties"][key];
                assert!(property.is_object(), "the document has no key {key}");
                self.rows_within(key, property, &mut table);
            }
        }
        table
    }

    /// What a reference or a type that may be null stands for: its name, where it has one, and its schema.
    fn resolved(&self, property: &'a Value) -> (Option<&'a str>, &'a Value) {
        let of_any = property["anyOf"].as_array().and_then(|all| all.iter().find(|one| one["type"] != "null"));
        let property = of_any.unwrap_or(property);
        match property["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            Some(name) => (Some(name), &self.schema["$defs"][name]),
            None => (None, property),
        }
    }

    fn row(&self, key: &str, property: &'a Value, table: &mut String) {
        let (_, resolved) = self.resolved(property);
        let meaning = property["description"].as_str().or_else(|| resolved["description"].as_str()).unwrap_or("");
        let mut meaning = meaning.trim_end_matches('.').to_owned();
        for value in resolved["oneOf"].as_array().into_iter().flatten() {
            let (name, what) = (&value["const"], value["description"].as_str().unwrap_or(""));
            let separator = if meaning.contains("`: ") { ";" } else { ":" };
            write!(meaning, "{separator} `{}`: {}", name.as_str().unwrap_or(""), in_sentence(what)).unwrap();
        }
        writeln!(table, "| `{key}` | {} | {meaning} |", self.type_of(property)).unwrap();
    }

    /// Rows of all keys below `key`.
    fn rows_within(&mut self, key: &str, property: &'a Value, table: &mut String) {
        let (name, resolved) = self.resolved(property);
        if name == Some(PACKED) {
            return;
        }
        if let Some(name) = name.filter(|_| resolved["type"] == "object") {
            if let Some((_, known)) = self.described.iter().find(|(one, _)| *one == name) {
                writeln!(table, "| `{key}.…` | | keys as in `{known}` |").unwrap();
                return;
            }
            self.described.push((name, key.to_owned()));
        }
        for (inner, property) in properties(resolved) {
            let key = format!("{key}.{inner}");
            self.row(&key, property, table);
            self.rows_within(&key, property, table);
        }
        let (items, values) = (&resolved["items"], &resolved["additionalProperties"]);
        if items.is_object() {
            self.rows_within(&format!("{key}[]"), items, table);
        }
        if values.is_object() {
            self.row(&format!("{key}.*"), values, table);
            self.rows_within(&format!("{key}.*"), values, table);
        }
    }

    /// The type in words: `number or null`, `list of text`.
    fn type_of(&self, property: &'a Value) -> String {
        let (name, resolved) = self.resolved(property);
        let types: Vec<&str> = match &resolved["type"] {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            Value::String(one) => vec![one],
            // Names with a meaning each.
            _ => vec!["string"],
        };
        let may_be_null = types.contains(&"null")
            || property["anyOf"].as_array().is_some_and(|all| all.iter().any(|one| one["type"] == "null"));
        let word = match types.first() {
            Some(&"integer" | &"number") => "number".to_owned(),
            Some(&"boolean") => "boolean".to_owned(),
            Some(&"object") if name == Some(PACKED) => "packed array".to_owned(),
            Some(&"object") => "object".to_owned(),
            Some(&"array") => match self.type_of(&resolved["items"]).as_str() {
                "object" => "list".to_owned(),
                "number" => "list of numbers".to_owned(),
                inner => format!("list of {inner}"),
            },
            _ => "text".to_owned(),
        };
        if may_be_null { format!("{word} or null") } else { word }
    }
}

/// A description within a sentence: without its capital letter, unless it begins with a name, and without its full stop.
fn in_sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().collect::<String>() + &text[first.len_utf8()..]
        }
        _ => text.to_owned(),
    }
}

/// The properties of an object, in the order of their keys in the document.
fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flat_map(Map::iter)
}
