//! A line after the answer, and its subject.

use serde::Serialize;

/// A line after the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerLine {
    /// Subject of the line.
    pub label: AnswerLabel,
    /// Its words.
    pub text: String,
}

/// The subject of a line after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AnswerLabel {
    /// Places in the program, and calls.
    #[serde(rename = "where")]
    Where,
    /// Gain of a change, by replay.
    #[serde(rename = "gain")]
    Gain,
    /// Changes that help for sure.
    #[serde(rename = "try")]
    Try,
    /// Changes that may help.
    #[serde(rename = "look at")]
    LookAt,
    /// A doubt, or what else must be known.
    #[serde(rename = "note")]
    Note,
}

impl AnswerLabel {
    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            AnswerLabel::Where => "where",
            AnswerLabel::Gain => "gain",
            AnswerLabel::Try => "try",
            AnswerLabel::LookAt => "look at",
            AnswerLabel::Note => "note",
        }
    }
}

impl AnswerLine {
    pub(super) fn new(label: AnswerLabel, text: impl Into<String>) -> AnswerLine {
        AnswerLine { label, text: text.into() }
    }
}
