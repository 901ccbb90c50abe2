//! A finding as it is written.

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer::finding_in_words;
use crate::losses::finding::{Finding, FindingPlace};
use crate::{Report, fraction_of};

/// Most ranks and hosts of a row.
const MOST_LISTED: usize = 1000;

/// A thing that the run loses time by, or a condition because of which its figures are not the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingRow {
    /// Conditions: `still running`, `ended early`: ranks have not ended, or not by themselves; `few calls`: too few to judge; `no cores`: ranks had none of their own; `one
    /// rank`; `set-up`: most of the run lies outside of `MPI_Init` … `MPI_Finalize`. Statements about all that is lost: `nothing`: no rank computes; `threads`: more is lost to
    /// idle threads; `thread pool`: threads that do not call MPI work; `starved pool`: they have no work; `master and workers`, `balanced`: little is lost; `unclear polls`, `asleep`: little, if that is
    /// computation. Parts of the loss: `static excess`: a rank has more work than the others; `serial code`: it works alone; `asleep rank`, `kernel rank`, `rank in state`: it takes longer
    /// asleep, in the kernel, or in another state of computation that is recorded; `last task`: the others wait for its last one; `emptied ranks`: it gets the work of ranks that get empty; `idle ranks`: a few have no work, the others equally much; `work outside of the loop`: it works
    /// longer once, before or after the main loop; `uneven groups`: a group with other code computes longer; `control of parallelism`; `moving rank`: first one rank has more
    /// work, then another; `slow in turn`: another in each iteration; `slow in parts`: another in each part of one; `awaited master`: ranks wait for the messages of one with
    /// code of its own; `chains`: ranks wait in chains; `serialization`: it is not known how; `busy coordinator`, `sleeping coordinator`: workers wait for a rank that is none
    /// of them; `busy target`, `held lock`: ranks wait in calls on windows; `rank in calls`: for the calls of one rank; `sleeping polls`: ranks sleep between polls for messages that are there; `rare delays`: a few calls take long; `small messages`,
    /// `large messages`, `late progress`, `communication`; `called by MPI`: functions of the program; `file access`; `late file progress`: nonblocking access to
    /// files is waited for; `recorder`.
    pub kind: &'static str,
    /// Seconds of the mean rank's time that it explains; 0 for conditions, and statements about all of the loss. The seconds of all findings and `not_explained_s` add up to `lost_s`.
    pub seconds: f64,
    /// `seconds` / recorded elapsed time.
    pub share: f64,
    /// The ranks that cause it, ascending, at most 1,000; empty if none stands out.
    pub ranks: Vec<u32>,
    /// Their hosts.
    pub hosts: Vec<String>,
    /// Its place in the program; null if it has none that is known.
    pub place: Option<FindingPlace>,
    /// Seconds by which the run would be shorter without it, by replay; null if that is not known, or little.
    pub gain_s: Option<f64>,
    /// `gain_s` / elapsed time.
    pub gain_share: Option<f64>,
    /// The finding in words.
    pub sentence: String,
    /// Advice: a change, or a place to look at; empty if the evidence supports no advice.
    pub advice: Vec<String>,
    /// Figures behind the words, by name.
    pub evidence: BTreeMap<&'static str, f64>,
}

impl FindingRow {
    /// Returns a finding of a report as it is written.
    pub fn new(report: &Report, finding: &Finding) -> FindingRow {
        let ranks: Vec<u32> = finding.ranks.iter().copied().take(MOST_LISTED).collect();
        let hosts = report.hosts_of(&ranks).into_iter().map(str::to_owned).collect();
        let advice = finding.advice.iter();
        FindingRow {
            kind: finding.kind,
            seconds: finding.seconds,
            share: fraction_of(finding.seconds, report.verdict.elapsed_s),
            ranks,
            hosts,
            place: finding.place.clone(),
            gain_s: finding.gain.as_ref().map(|gain| gain.seconds),
            gain_share: finding.gain.as_ref().map(|gain| gain.share),
            sentence: finding_in_words(report, finding),
            advice: advice.map(|advice| advice.label_and_text().1.to_owned()).collect(),
            evidence: finding.evidence.iter().copied().collect(),
        }
    }
}
