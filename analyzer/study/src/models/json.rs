//! Models and the causal model as JSON: the structs themselves, times in seconds; what is not known is null. docs/study-models-json.md
//! explains the keys.

use serde::Serialize;

/// The version of both documents; another one means that a key has another meaning, or is gone.
pub const SCHEMA: &str = "lbprof-models/1";

#[derive(Serialize)]
struct ModelDocument<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

/// Writes all models, or the causal model, as a document.
pub fn write_document<T: Serialize>(content: &T) -> serde_json::Result<String> {
    let mut text = Vec::new();
    lbprof_report::json::write_pretty(&ModelDocument { schema: SCHEMA, content }, &mut text)
        .map_err(serde_json::Error::io)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::super::StudyModels;
    use super::super::causal::CausalGraph;
    use super::super::multiplication_tests::{multiplication, study};
    use super::*;

    #[test]
    fn two_sizes_are_too_few_for_a_law_that_fits_badly() {
        let of = StudyModels::from_runs(&[40.0, 60.0].map(|n| multiplication(2, n))).unwrap();
        let found: Value = serde_json::from_str(&write_document(&of).unwrap()).unwrap();
        let relations = found["phases"][0]["relations"].as_array().unwrap();
        let by_n = relations.iter().find(|one| one["from"] == "n" && one["to"] == "#op main/multiply").unwrap();
        let too_few = "2 sizes: too few for a law, 3 or more are needed";
        assert_eq!((&by_n["polynomial"], &by_n["no_polynomial"]), (&Value::Null, &too_few.into()));
        let graph: Value = serde_json::from_str(&write_document(&CausalGraph::from_models(&of)).unwrap()).unwrap();
        let edges = graph["edges"].as_array().unwrap();
        let edge = edges.iter().find(|one| one["from"] == "n" && one["to"] == "#op main/multiply").unwrap();
        assert_eq!((&edge["kind"], &edge["text"]), (&"unknown".into(), &too_few.into()));
    }

    fn keys(of: &Value, into: &mut BTreeSet<String>) {
        match of {
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                // Names of variables are the user's.
                into.insert(key.clone());
                keys(value, into);
            }),
            Value::Array(list) => list.iter().for_each(|value| keys(value, into)),
            _ => {}
        }
    }

    #[test]
    fn the_document_explains_every_key() {
        let explained = include_str!("../../../../docs/study-models-json.md");
        let of = StudyModels::from_runs(&study()).unwrap();
        let mut found = BTreeSet::new();
        for document in [write_document(&of).unwrap(), write_document(&CausalGraph::from_models(&of)).unwrap()] {
            keys(&serde_json::from_str(&document).unwrap(), &mut found);
        }
        found.retain(|key| !matches!(key.as_str(), "P" | "n"));
        let missing: Vec<&String> = found
            .iter()
            .filter(|key| !explained.contains(&format!("`{key}`")) && !explained.contains(&format!("\"{key}\"")))
            .collect();
        assert!(found.len() > 40 && missing.is_empty(), "{missing:?}");
    }
}
