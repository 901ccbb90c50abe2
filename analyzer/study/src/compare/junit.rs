//! Conditions as JUnit's XML, which CI systems show as tests: one test per condition, or without conditions one that says what changed.

use std::io::{self, Write};

use super::condition::words::condition_values;
use super::condition::{ConditionOutcome, JudgedCondition};
use super::{RunComparison, words};
use lbprof_report::html::escape_xml;
use lbprof_report::words::escape_name;

/// Writes the XML document.
pub fn write_junit(comparison: &RunComparison, conditions: &[JudgedCondition], out: &mut dyn Write) -> io::Result<()> {
    let n_failures = conditions.iter().filter(|judged| judged.outcome != ConditionOutcome::Passes).count();
    let n_tests = conditions.len().max(1);
    let counts = format!(r#"tests="{n_tests}" skipped="0" failures="{n_failures}" errors="0""#);
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<testsuites name="lb-report" {counts}>"#)?;
    writeln!(out, r#"    <testsuite name="lb-report compare" {counts}>"#)?;
    if conditions.is_empty() {
        writeln!(out, r#"        <testcase name="comparison"/>"#)?;
    }
    for judged in conditions {
        write_case(judged, out)?;
    }
    let headline = xml_text(&words::comparison_headline(comparison));
    writeln!(out, "        <system-out>{headline}</system-out>\n    </testsuite>\n</testsuites>")
}

fn write_case(judged: &JudgedCondition, out: &mut dyn Write) -> io::Result<()> {
    let name = xml_text(&judged.text);
    let kind = match judged.outcome {
        ConditionOutcome::Passes => return writeln!(out, r#"        <testcase name="{name}"/>"#),
        ConditionOutcome::Fails => "fails",
        ConditionOutcome::Unknown => "unknown",
    };
    let message = xml_text(&condition_values(judged));
    writeln!(out, r#"        <testcase name="{name}">"#)?;
    writeln!(out, r#"            <failure message="{message}" type="{kind}"/>"#)?;
    writeln!(out, "        </testcase>")
}

/// Returns a text without the characters that XML cannot have, not even escaped.
fn xml_text(text: &str) -> String {
    escape_xml(&escape_name(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}
