//! The states that a thread's time can be in: what `states.table` makes.

use bincode::{Decode, Encode};
use serde::Serialize;

macro_rules! groups {
    ($($name:ident $sentence:literal;)*) => {
        /// The group of a state, which is all that most code asks about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum StateGroup { $(#[doc = $sentence] $name,)* }
    };
}

const fn first_of(phrases: &[&'static str]) -> Option<&'static str> {
    if phrases.is_empty() { None } else { Some(phrases[0]) }
}

macro_rules! states {
    ($states:ident $($name:ident = $number:tt, $group:ident, $label:literal, $head:literal, $colour:literal, $paraver:literal, $otf2:literal, $([$phrase:literal])? $sentence:literal;)*) => {
        /// A state of a thread's time (docs/metrics.md). The numbers are in every log: append, never renumber.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode, Serialize)]
        #[repr(u8)]
        pub enum $states { $(#[doc = $sentence] $name = $number,)* }

        impl $states {
            /// Number of states.
            pub const COUNT: usize = [$($number),*].len();

            /// The states, each at the index of its number.
            pub const ALL: [$states; Self::COUNT] = [$($states::$name),*];

            /// Returns the state of a number in a log, or `None` for one that this version does not know.
            pub fn from_number(number: usize) -> Option<$states> {
                $states::ALL.get(number).copied()
            }

            /// The name in reports and JSON.
            pub const fn name(self) -> &'static str {
                match self { $($states::$name => $label,)* }
            }

            /// The head of a column, on two lines where the name is long.
            pub const fn head(self) -> &'static str {
                match self { $($states::$name => $head,)* }
            }

            /// The group.
            pub const fn group(self) -> StateGroup {
                match self { $($states::$name => StateGroup::$group,)* }
            }

            /// The sentence of the glossary.
            pub const fn sentence(self) -> &'static str {
                match self { $($states::$name => $sentence,)* }
            }

            /// Returns how a sentence says that a rank is in this state, which others wait for: `waiting for a core`. `None`: that is no reason to wait for it.
            pub const fn phrase(self) -> Option<&'static str> {
                match self { $($states::$name => first_of(&[$($phrase)?]),)* }
            }

            /// The number of the state in Paraver's configurations.
            pub const fn paraver_state(self) -> u8 {
                match self { $($states::$name => $paraver,)* }
            }

            /// The `OTF2_RegionRole` of a call in this state.
            pub const fn otf2_role(self) -> u8 {
                match self { $($states::$name => $otf2,)* }
            }
        }

        // Each state is at the index of its number.
        const _: () = {
            let mut at = 0;
            while at < $states::COUNT {
                assert!($states::ALL[at] as usize == at);
                at += 1;
            }
        };
    };
}
include!("states.table");

impl Activity {
    /// The bits that hold a state's number in a record's flags.
    pub const MASK: u16 = 7;

    /// Returns the number of the state in the lowest bits of a word, below what else the word holds.
    #[inline(always)]
    pub const fn number_in(word: u64) -> u16 {
        word as u16 & Self::MASK
    }

    /// Returns the state in the lowest bits of a word.
    #[inline(always)]
    pub fn from_bits(word: u16) -> Activity {
        Self::ALL[usize::from(word & Self::MASK)]
    }

    /// Returns whether the thread is in an MPI call.
    #[inline]
    pub const fn is_mpi(self) -> bool {
        matches!(self.group(), StateGroup::Mpi)
    }
}

const _: () = assert!(Activity::COUNT == Activity::MASK as usize + 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_the_rows_of_the_table() {
        let document = include_str!("../../../docs/report-reference.md");
        let activities = Activity::ALL.map(|state| (state.name(), state.sentence()));
        let of_computation = CoreState::ALL.map(|state| (state.name(), state.sentence()));
        for (name, sentence) in activities.into_iter().chain(of_computation) {
            assert!(document.contains(&format!("| {name} | {sentence} |")), "{name}");
        }
    }
}
