//! A finding: a thing that a run loses time by, or that makes a run not worth judging.

use serde::Serialize;

use crate::code::functions::{FunctionCall, FunctionName};
use crate::losses::LossAt;
use crate::losses::names::call_in_words;

/// The tone of an answer, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingTone {
    /// Nothing to be done.
    Good,
    /// A doubt comes first.
    Unclear,
    /// Time is lost.
    Bad,
}

/// The subject of a finding: notes on it are added to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingSubject {
    /// The rank that computes longest.
    SlowRank,
    /// Messages, which a rank without a core delays.
    Messages,
    /// The end of the run.
    End,
    /// The time before and after the run's work.
    SetUp,
    /// The recorder, which comes last.
    Recorder,
    /// A subject without notes.
    Other,
}

/// Cause of a loss, in words.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingCause {
    /// A whole sentence, with its full stop.
    Sentence(String),
    /// A clause: `rank 1 has twice the average work, and the others wait for it`.
    Because(String),
    /// A noun with `to` before it: `communication`; then what is known of it, a clause of its own or empty.
    To(&'static str, String),
}

/// The place of a finding in the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct FindingPlace {
    /// The place in words.
    pub text: String,
    /// Name of the function; null if it is not known.
    pub function: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The call of the function.
    #[serde(flatten)]
    pub call: FunctionCall,
    /// Path of the region; null if the place is a call, or the whole program.
    pub region: Option<String>,
    /// The MPI function that ranks call there, without `MPI_`; null if the place is no call.
    pub operation: Option<String>,
}

impl FindingPlace {
    /// Creates a place that is known only in words.
    pub fn in_words(text: String) -> FindingPlace {
        FindingPlace { text, ..FindingPlace::default() }
    }

    /// Creates the place of a call.
    pub fn from_call(at: &LossAt) -> FindingPlace {
        FindingPlace {
            text: call_in_words(at),
            function: at.place.function.clone(),
            file: at.place.file.clone(),
            line: at.place.line,
            operation: Some(at.operation.clone()),
            ..FindingPlace::default()
        }
    }

    /// Adds the function.
    pub fn with_function(self, name: &FunctionName, call: &FunctionCall) -> FindingPlace {
        FindingPlace {
            function: name.function.clone(),
            file: name.file.clone(),
            line: name.line,
            call: call.clone(),
            ..self
        }
    }
}

/// The gain of removing the loss of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingGain {
    /// Seconds that are saved.
    pub seconds: f64,
    /// Seconds / elapsed time.
    pub share: f64,
    /// The change and its gain in words.
    pub text: String,
}

/// Advice that the evidence of a finding supports.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingAdvice {
    /// A change that helps for sure.
    Try(String),
    /// A place to look at, for a change that may help.
    LookAt(String),
}

impl FindingAdvice {
    /// Returns the word before the advice, and the advice.
    pub fn label_and_text(&self) -> (&'static str, &str) {
        match self {
            FindingAdvice::Try(text) => ("try", text),
            FindingAdvice::LookAt(text) => ("look at", text),
        }
    }
}

/// A thing that a run loses time by, or that makes a run not worth judging.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its name in JSON.
    pub kind: &'static str,
    /// The tone of an answer that it is.
    pub tone: FindingTone,
    /// Its subject.
    pub subject: FindingSubject,
    /// Seconds of the mean rank's time that it explains.
    pub seconds: f64,
    /// The ranks that cause it, ascending; empty if no rank stands out.
    pub ranks: Vec<u32>,
    /// Its cause.
    pub cause: FindingCause,
    /// Its place in the program.
    pub place: Option<FindingPlace>,
    /// The gain of removing it, by replay.
    pub gain: Option<FindingGain>,
    /// Advice on it.
    pub advice: Option<FindingAdvice>,
    /// Figures behind the words, by name.
    pub evidence: Vec<(&'static str, f64)>,
    /// Words after a condition that introduce the figures, or `None` if the figures are not given.
    pub before_figures: Option<&'static str>,
}

impl Finding {
    /// Creates a condition of the run.
    pub fn condition(kind: &'static str, sentence: String) -> Finding {
        Finding { tone: FindingTone::Unclear, ..Finding::part(kind, 0.0, FindingCause::Sentence(sentence)) }
    }

    /// Creates a statement about the whole loss.
    pub fn of_whole(kind: &'static str, tone: FindingTone, sentence: String) -> Finding {
        Finding { tone, ..Finding::part(kind, 0.0, FindingCause::Sentence(sentence)) }
    }

    /// Creates a part of the loss.
    pub fn part(kind: &'static str, seconds: f64, cause: FindingCause) -> Finding {
        Finding {
            kind,
            tone: FindingTone::Bad,
            subject: FindingSubject::Other,
            seconds,
            ranks: Vec::new(),
            cause,
            place: None,
            gain: None,
            advice: None,
            evidence: Vec::new(),
            before_figures: None,
        }
    }

    /// Returns whether messages cost the time.
    pub fn is_of_messages(&self) -> bool {
        self.subject == FindingSubject::Messages
    }

    /// Returns whether it is a part of the loss, not a sentence about the run or the whole loss.
    pub fn is_part(&self) -> bool {
        !matches!(self.cause, FindingCause::Sentence(_))
    }
}
