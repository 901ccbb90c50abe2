//! Texts by number: all names in a trace.

use std::collections::HashMap;
use std::io;

use super::library::{DefinitionWriter, Ref};

/// Texts, each once.
#[derive(Default)]
pub struct TraceTexts {
    numbers: HashMap<String, Ref>,
    undefined: Vec<String>,
}

impl TraceTexts {
    /// Returns the number of a text.
    pub fn number(&mut self, text: &str) -> Ref {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.numbers.len() as Ref;
        self.numbers.insert(text.to_owned(), number);
        self.undefined.push(text.to_owned());
        number
    }

    /// Returns the number of a text, which is defined then.
    ///
    /// Errors: writing fails.
    pub fn define(&mut self, text: &str, out: &DefinitionWriter) -> io::Result<Ref> {
        let number = self.number(text);
        let first = self.numbers.len() - self.undefined.len();
        for (number, text) in (first as Ref..).zip(self.undefined.drain(..)) {
            out.define_text(number, text.as_str())?;
        }
        Ok(number)
    }
}
