//! Conditions as JUnit's XML, which CI systems show as tests: one test per condition, or without conditions one that says what changed.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::words;
use crate::compare::RunComparison;
use crate::compare::condition;
use crate::compare::condition::{ConditionOutcome, JudgedCondition};
use lbprof_report::rows::words::escape_name;

/// Writes the XML document.
pub fn write_junit(comparison: &RunComparison, conditions: &[JudgedCondition], out: &mut dyn Write) -> io::Result<()> {
    let n_tests = conditions.len().max(1).to_string();
    let failures = conditions.iter().filter(|judged| judged.outcome != ConditionOutcome::Passes);
    let n_failures = failures.count().to_string();
    let counts = [("tests", n_tests.as_str()), ("skipped", "0"), ("failures", &n_failures), ("errors", "0")];
    let mut xml = Writer::new_with_indent(out, b' ', 4);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = xml.create_element("testsuites").with_attribute(("name", "lb-report")).with_attributes(counts);
    suites.write_inner_content(|xml| {
        let suite = xml.create_element("testsuite").with_attribute(("name", "lb-report compare"));
        suite.with_attributes(counts).write_inner_content(|xml| {
            if conditions.is_empty() {
                xml.create_element("testcase").with_attribute(("name", "comparison")).write_empty()?;
            }
            for judged in conditions {
                write_case(xml, judged)?;
            }
            let headline = xml_text(&words::comparison_headline(comparison));
            xml.create_element("system-out").write_text_content(BytesText::new(&headline))?;
            Ok(())
        })?;
        Ok(())
    })?;
    xml.write_indent()
}

fn write_case(xml: &mut Writer<&mut dyn Write>, judged: &JudgedCondition) -> io::Result<()> {
    let name = xml_text(&judged.text);
    let case = xml.create_element("testcase").with_attribute(("name", name.as_str()));
    if judged.outcome == ConditionOutcome::Passes {
        case.write_empty()?;
        return Ok(());
    }
    case.write_inner_content(|xml| {
        let message = xml_text(&condition::words::condition_values(judged));
        let failure = xml.create_element("failure").with_attribute(("message", message.as_str()));
        let kind = if judged.outcome == ConditionOutcome::Fails { "fails" } else { "unknown" };
        failure.with_attribute(("type", kind)).write_empty()?;
        Ok(())
    })?;
    Ok(())
}

/// Returns a text without the characters that XML cannot have, not even escaped.
fn xml_text(text: &str) -> String {
    escape_name(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
