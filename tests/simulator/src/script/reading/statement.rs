//! Statements of a script's text, and the values in them.

use super::expression::evaluate;
use crate::script::error::ScriptError;
use crate::script::program::Script;

#[derive(Clone, Copy)]
pub(in crate::script) struct Statement<'a> {
    pub line: u32,
    pub index: u32,
    pub text: &'a str,
}

impl<'a> Statement<'a> {
    pub fn split(&self) -> (&'a str, &'a str) {
        let (word, rest) = self.text.split_once(char::is_whitespace).unwrap_or((self.text, ""));
        (word, rest.trim())
    }

    pub fn error(&self, what: impl Into<String>) -> ScriptError {
        ScriptError::Line { line: self.line, what: what.into() }
    }
}

pub(in crate::script) struct Node<'a> {
    pub statement: Statement<'a>,
    pub body: Vec<Node<'a>>,
}

pub(in crate::script) fn whole(text: &str, names: &[(String, f64)]) -> Result<u64, String> {
    let value = evaluate(text, names)?;
    if value < 0.0 || value.fract() != 0.0 {
        return Err(format!("`{text}` is {value}, which is no whole number from 0 up"));
    }
    Ok(value as u64)
}

pub(in crate::script) fn duration(text: &str, names: &[(String, f64)]) -> Result<u64, String> {
    let value = evaluate(text, names)?;
    if value < 0.0 {
        return Err(format!("`{text}` is {value} ms, but time does not run backwards"));
    }
    Ok((value * 1e6).round() as u64)
}

pub(in crate::script) fn names(script: &Script, rank: u32) -> Vec<(String, f64)> {
    vec![("n".to_owned(), f64::from(script.n_ranks())), ("r".to_owned(), f64::from(rank))]
}
