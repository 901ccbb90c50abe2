//! The lines and pages that one round touches.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Bytes of a cache line and of a page, as powers of two.
const LINE_BITS: u32 = 6;
const PAGE_BITS: u32 = 12;

/// One instruction: its own bytes and the memory that it touches, each as address and length.
#[derive(Clone, Debug)]
pub struct TouchStep {
    pub code: (u64, u64),
    pub data: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineUse {
    Code,
    Data,
}

/// A line, and who touches what in it.
#[derive(Clone, Debug)]
pub struct TouchedLine {
    pub line_use: LineUse,
    pub address: u64,
    pub touched: BTreeSet<u64>,
    /// Whether an instruction of the recorder is among those that touch it, or another one.
    by_recorder: bool,
    by_others: bool,
}

#[derive(Default)]
pub struct Round {
    n_instructions: u64,
    lines: BTreeMap<(LineUse, u64), TouchedLine>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct RoundCounts {
    code_lines: u64,
    code_pages: u64,
    data_lines: u64,
    data_pages: u64,
    /// Lines and pages of data that nothing but the recorder touches.
    own_data_lines: u64,
    own_data_pages: u64,
    instructions: u64,
}

impl Round {
    /// Adds an instruction; `is_recorder` says whose it is.
    pub fn add(&mut self, step: &TouchStep, is_recorder: bool) {
        self.n_instructions += 1;
        self.touch(LineUse::Code, step.code, is_recorder);
        for &data in &step.data {
            self.touch(LineUse::Data, data, is_recorder);
        }
    }

    fn touch(&mut self, line_use: LineUse, (address, length): (u64, u64), is_recorder: bool) {
        let last = address.wrapping_add(length.max(1) - 1);
        for number in address >> LINE_BITS..=last >> LINE_BITS {
            let begin = number << LINE_BITS;
            let line = self.lines.entry((line_use, begin)).or_insert_with(|| TouchedLine {
                line_use,
                address: begin,
                touched: BTreeSet::new(),
                by_recorder: false,
                by_others: false,
            });
            line.touched.insert(address.max(begin));
            line.by_recorder |= is_recorder;
            line.by_others |= !is_recorder;
        }
    }

    pub fn counts(&self) -> RoundCounts {
        let lines_of = |wanted| self.lines.values().filter(move |line| line.line_use == wanted);
        let pages_of = |wanted| lines_of(wanted).map(TouchedLine::page).collect::<BTreeSet<_>>();
        let own = || self.lines_of_recorder().filter(|line| line.line_use == LineUse::Data);
        let pages_of_others: BTreeSet<_> =
            lines_of(LineUse::Data).filter(|line| line.by_others).map(TouchedLine::page).collect();
        RoundCounts {
            code_lines: lines_of(LineUse::Code).count() as u64,
            code_pages: pages_of(LineUse::Code).len() as u64,
            data_lines: lines_of(LineUse::Data).count() as u64,
            data_pages: pages_of(LineUse::Data).len() as u64,
            own_data_lines: own().count() as u64,
            own_data_pages: own().map(TouchedLine::page).collect::<BTreeSet<_>>().difference(&pages_of_others).count()
                as u64,
            instructions: self.n_instructions,
        }
    }

    pub fn lines_of_recorder(&self) -> impl Iterator<Item = &TouchedLine> {
        self.lines.values().filter(|line| line.by_recorder && !line.by_others)
    }
}

impl TouchedLine {
    fn page(&self) -> u64 {
        self.address >> PAGE_BITS
    }
}

impl RoundCounts {
    pub fn medians(rounds: &[RoundCounts]) -> RoundCounts {
        let median = |figure: fn(&RoundCounts) -> u64| {
            let mut figures: Vec<u64> = rounds.iter().map(figure).collect();
            figures.sort_unstable();
            figures[figures.len() / 2]
        };
        RoundCounts {
            code_lines: median(|round| round.code_lines),
            code_pages: median(|round| round.code_pages),
            data_lines: median(|round| round.data_lines),
            data_pages: median(|round| round.data_pages),
            own_data_lines: median(|round| round.own_data_lines),
            own_data_pages: median(|round| round.own_data_pages),
            instructions: median(|round| round.instructions),
        }
    }
}
