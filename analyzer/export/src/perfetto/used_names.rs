//! Names in a trace: written once, and used by number after that.

use std::collections::HashMap;

use super::packets::{EventAnnotation, InternedData, InternedText};

/// Names that were used before, by number.
#[derive(Debug, Default)]
pub struct UsedNames {
    events: HashMap<String, u64>,
    categories: HashMap<String, u64>,
    facts: HashMap<&'static str, u64>,
    texts: HashMap<String, u64>,
    new: InternedData,
}

impl UsedNames {
    /// The number of the name of an event.
    pub fn event(&mut self, name: &str) -> u64 {
        text_number(&mut self.events, name, &mut self.new.events)
    }

    /// The number of a category.
    pub fn category(&mut self, name: &str) -> u64 {
        text_number(&mut self.categories, name, &mut self.new.categories)
    }

    fn fact(&mut self, name: &'static str) -> u64 {
        let next = self.facts.len() as u64 + 1;
        *self.facts.entry(name).or_insert_with(|| {
            self.new.facts.push(InternedText { id: Some(next), text: Some(name.to_owned()) });
            next
        })
    }

    /// A fact that is a number.
    pub fn number(&mut self, name: &'static str, number: i64) -> EventAnnotation {
        EventAnnotation { name: Some(self.fact(name)), number: Some(number), text: None }
    }

    /// A fact that is a text.
    pub fn text(&mut self, name: &'static str, text: &str) -> EventAnnotation {
        let text = text_number(&mut self.texts, text, &mut self.new.texts);
        EventAnnotation { name: Some(self.fact(name)), number: None, text: Some(text) }
    }

    /// Takes the names that are not written yet, or `None` if there are none.
    pub fn take_new(&mut self) -> Option<InternedData> {
        let new = std::mem::take(&mut self.new);
        (new != InternedData::default()).then_some(new)
    }
}

/// The number of a text, which is noted where it is new.
fn text_number(known: &mut HashMap<String, u64>, text: &str, new: &mut Vec<InternedText>) -> u64 {
    if let Some(&number) = known.get(text) {
        return number;
    }
    let number = known.len() as u64 + 1;
    known.insert(text.to_owned(), number);
    new.push(InternedText { id: Some(number), text: Some(text.to_owned()) });
    number
}
