//! The loop whose end the user names: `--loop CALLSITE`, or `--loop CALLSITE/k` where that call comes k times in each iteration.

use std::num::NonZeroU32;

use crate::structure::code::symbols::CodePlace;
use crate::structure::iterations::patterns::found_loop::{FoundLoop, LoopAnchor};
use crate::structure::iterations::window::CallInterval;
use crate::structure::survey::CallSurvey;

pub(super) struct NamedLoop {
    /// The kinds of calls, by the survey's index.
    tokens: Vec<u32>,
    /// Number of these calls per iteration.
    every: NonZeroU32,
}

impl NamedLoop {
    /// Finds the calls at call sites with `text` in their labels. A number after a slash at its end is the number of these calls per iteration.
    pub fn new(text: &str, survey: &CallSurvey, places: &[CodePlace]) -> NamedLoop {
        let (label, every) = parse_loop_label(text);
        let tokens = (0..)
            .zip(&survey.tokens)
            .filter(|(_, token)| {
                let place = token.site.and_then(|site| places.get(site as usize));
                place.is_some_and(|place| place.label().contains(label))
            })
            .map(|(at, _)| at)
            .collect();
        NamedLoop { tokens, every }
    }

    /// Returns the loop in these calls: all kinds of calls between the first end and the last belong to it.
    pub fn find_in(&self, calls: &[CallInterval]) -> Option<FoundLoop> {
        let mut ends = (0..calls.len()).filter(|&at| self.tokens.contains(&calls[at].token));
        let (first, last) = (ends.next()?, ends.next_back()?);
        let within = &calls[first..=last];
        let mut tokens: Vec<u32> = within.iter().map(|step| step.token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        let anchors: Vec<u32> = tokens.iter().copied().filter(|token| self.tokens.contains(token)).collect();
        Some(FoundLoop {
            parent: None,
            tokens,
            anchor: LoopAnchor { tokens: anchors, run: false },
            core: Vec::new(),
            by_rhythm: false,
            every: self.every,
            iterations: within.iter().filter(|call| self.tokens.contains(&call.token)).count()
                / self.every.get() as usize,
            in_parent: None,
            time: within.last()?.end.saturating_sub(within.first()?.begin),
            main: true,
        })
    }
}

/// Splits the user's text into a part of a label and the number of these calls per iteration.
pub fn parse_loop_label(text: &str) -> (&str, NonZeroU32) {
    let numbered = text.rsplit_once('/').and_then(|(label, number)| Some((label, number.parse().ok()?)));
    numbered.filter(|(label, _)| !label.is_empty()).unwrap_or((text, NonZeroU32::MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_behind_a_slash_is_how_often_the_call_comes_in_an_iteration() {
        let of = |text| {
            let (label, every) = parse_loop_label(text);
            (label, every.get())
        };
        assert_eq!(of("halo (halo.c:20)"), ("halo (halo.c:20)", 1));
        assert_eq!(of("halo (halo.c:20)/3"), ("halo (halo.c:20)", 3));
        assert_eq!(of("halo/0"), ("halo/0", 1), "no number of calls");
        assert_eq!(of("a/b"), ("a/b", 1));
        assert_eq!(of("/2"), ("/2", 1));
    }
}
