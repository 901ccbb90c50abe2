//! MPI calls functions of the program, as for a user-defined reduction.

use crate::Report;
use crate::findings::phrases::functions::called_by_mpi;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause, FindingPlace};

/// Detects that the program's own code runs within MPI.
pub fn find_callbacks_of_mpi(report: &Report, parts: &LossParts) -> Option<Finding> {
    let called = called_by_mpi(report).unwrap_or_default();
    let loss = report.loss_facts.called_by_mpi.as_ref();
    Some(Finding {
        ranks: loss.map(|loss| loss.major_ranks(report.ranks.len())).unwrap_or_default(),
        place: loss.and_then(|loss| loss.at.as_ref()).map(FindingPlace::from_call),
        advice: Some(FindingAdvice::Try(
            "make that function faster, or reduce less often; a faster network will not help".to_owned(),
        )),
        ..Finding::part(
            "called by MPI",
            parts.called_by_mpi_s,
            FindingCause::To("the program's own code within MPI", called),
        )
    })
}
