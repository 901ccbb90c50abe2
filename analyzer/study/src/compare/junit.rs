//! Conditions as JUnit's XML, which CI systems show as tests: a test a condition; without conditions one that says what changed.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::condition;
use super::condition::{ConditionOutcome, JudgedCondition};
use super::{RunComparison, words};
use lbprof_report::words::clean;

/// Writes the XML document.
pub fn write(comparison: &RunComparison, conditions: &[JudgedCondition], out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new("lb-report compare");
    suite.set_system_out(words::headline(comparison));
    if conditions.is_empty() {
        suite.add_test_case(TestCase::new("comparison", TestCaseStatus::success()));
    }
    suite.add_test_cases(conditions.iter().map(case));
    let mut report = Report::new("lb-report");
    report.add_test_suite(suite);
    report.serialize(out).map_err(io::Error::other)
}

fn case(judged: &JudgedCondition) -> TestCase {
    let status = match judged.outcome {
        ConditionOutcome::Passes => TestCaseStatus::success(),
        outcome => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(outcome.name()).set_message(condition::words::values(judged));
            status
        }
    };
    TestCase::new(clean(&judged.text), status)
}
