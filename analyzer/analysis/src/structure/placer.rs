//! Places a rank's calls in loops and regions, one by one, as they are folded.

use lbprof_collector::Record;
use lbprof_collector::record::NONE;

use super::RunStructure;
use crate::model::code::loops::{IterationEnds, Loop};
use crate::model::code::sites::CallSiteTable;
use crate::read::definitions::RankDefinitions;
use crate::structure::call_kinds::CallKinds;
use crate::structure::iterations::numbering::split::{CallSplitter, IterationInterval};
use crate::structure::survey::CallToken;

/// Set in the numbers of found regions. Marked regions have small numbers, because a recorder counts them.
const FOUND: u32 = 1 << 31;

/// Set in the number of a found region that is code between calls.
const SEGMENT: u32 = 1 << 30;

/// Set in the number of a found region that lies in a marked one.
const IN_MARKED: u32 = 1 << 29;

/// Set in the number of a marked region in a found loop.
const IN_LOOP: u32 = 1 << 28;

/// Bits of the number of a segment. Above them is the loop or marked region, counted from 1.
const SEGMENT_BITS: u32 = 16;

/// Maximum number of a loop or marked region.
const MOST_AROUND: u32 = (1 << 12) - 2;

/// Maximum number of loops.
pub const MOST_LOOPS: usize = 1 << 8;

/// A region of a rank that is not simply a marked one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundRegion {
    /// A loop, or code between calls within it, or such code outside of any loop.
    Found {
        /// The innermost loop.
        in_loop: Option<usize>,
        /// The code between calls, or `None` for the loop itself, outside of such code.
        segment: Option<u32>,
    },
    /// Code between calls within a marked region.
    InMarked(u32, u32),
    /// A marked region within the rank's main loop.
    MarkedInLoop(u32),
}

fn segment_part(segment: u32) -> u32 {
    SEGMENT | segment & ((1 << SEGMENT_BITS) - 1)
}

fn is_within(loops: &[Loop], mut at: usize, outer: Option<usize>) -> bool {
    while Some(at) != outer {
        match loops.get(at).and_then(|one| one.parent) {
            Some(parent) if parent < at => at = parent,
            _ => return false,
        }
    }
    true
}

impl FoundRegion {
    fn number_of(in_loop: Option<usize>, segment: Option<u32>) -> u32 {
        FoundRegion::Found { in_loop, segment }.number()
    }

    /// Returns its number among a rank's regions.
    pub fn number(self) -> u32 {
        match self {
            FoundRegion::Found { in_loop, segment } => {
                let in_loop = in_loop.map_or(0, |at| at as u32 + 1) << SEGMENT_BITS;
                FOUND | in_loop | segment.map_or(0, segment_part)
            }
            FoundRegion::InMarked(region, segment) => {
                FOUND | IN_MARKED | (region.min(MOST_AROUND) + 1) << SEGMENT_BITS | segment_part(segment)
            }
            FoundRegion::MarkedInLoop(region) => IN_LOOP | region,
        }
    }

    /// Returns the code between calls, if it is such code.
    pub fn segment(self) -> Option<u32> {
        match self {
            FoundRegion::Found { segment, .. } => segment,
            FoundRegion::InMarked(_, segment) => Some(segment),
            FoundRegion::MarkedInLoop(_) => None,
        }
    }

    /// Returns the region with a number, or `None` for a marked region.
    pub fn of_number(number: u32) -> Option<FoundRegion> {
        let around = ((number >> SEGMENT_BITS) & (MOST_AROUND + 1)).checked_sub(1);
        let segment = (number & SEGMENT != 0).then_some(number & ((1 << SEGMENT_BITS) - 1));
        match (number & FOUND != 0, around, segment) {
            (false, ..) => (number & IN_LOOP != 0).then_some(FoundRegion::MarkedInLoop(number & !IN_LOOP)),
            (true, Some(region), Some(segment)) if number & IN_MARKED != 0 => {
                Some(FoundRegion::InMarked(region, segment))
            }
            (true, in_loop, segment) => Some(FoundRegion::Found { in_loop: in_loop.map(|at| at as usize), segment }),
        }
    }
}

/// The place of a call in the structure, with the computation before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedCall {
    /// The number of the found region, or `None` if regions are marked.
    region: Option<u32>,
    /// True if the call belongs to the main loop.
    in_loop: bool,
    /// The interval between the ends of iterations, or [`NONE`] if the rank has no loop.
    interval: u32,
}

impl PlacedCall {
    /// Returns the region and iteration of time that markers have put into `marked` (or 0) and its `iteration`, or `None` if it stays there.
    #[inline(always)]
    pub fn within(self, marked: u32, iteration: u32) -> Option<(u32, u32)> {
        match self.region {
            Some(found) if marked == 0 => Some((found, self.interval)),
            // In a marked iteration code has regions of its own; a marked phase is the region of its code.
            Some(found) if iteration != NONE => {
                let segment = found & ((1 << SEGMENT_BITS) - 1);
                Some((FoundRegion::InMarked(marked, segment).number(), iteration))
            }
            // With marked iterations there are no intervals.
            _ if self.interval == NONE => None,
            _ if self.in_loop => Some((FoundRegion::MarkedInLoop(marked).number(), self.interval)),
            _ => Some((marked, self.interval)),
        }
    }
}

#[derive(Clone, Copy)]
struct KindPlacement {
    token: u32,
    place: u32,
    in_loop: Option<u8>,
    /// The inner loop whose iterations it may end, by its place among the rank's loops.
    ends: Option<usize>,
    /// True for a poll, which belongs to the loop of the calls before it.
    is_poll: bool,
    /// The kind and loop of the call before it the last time, and the resulting region.
    after: (u32, Option<u8>),
    region: u32,
    /// The region of the computation before it, which differs if code of a function around the loop comes before the loop.
    before: u32,
}

/// Places the calls of a rank's first thread, in their order.
pub struct CallPlacer<'a> {
    structure: &'a RunStructure,
    sites: &'a CallSiteTable,
    main: Option<usize>,
    /// The rank's loops that are regions, inner ones first.
    loops: Vec<(usize, &'a Loop)>,
    kinds: CallKinds,
    of_kind: Vec<KindPlacement>,
    ended: Vec<u64>,
    /// The innermost loop of the last call.
    in_loop: Option<u8>,
    splitter: Option<CallSplitter>,
}

impl<'a> CallPlacer<'a> {
    /// Creates a placer for `rank`, or returns `None` if it has neither a main loop nor found regions.
    pub fn new(structure: &'a RunStructure, sites: &'a CallSiteTable, rank: u32) -> Option<CallPlacer<'a>> {
        let main_at = structure.main_loop(rank);
        let main = main_at.and_then(|at| structure.loops.get(at));
        if main.is_none() && structure.segments.is_none() {
            return None;
        }
        let loops = structure.loops.iter().enumerate().rev();
        let loops = loops.filter(|&(at, one)| one.is_region && is_within(&structure.loops, at, main_at));
        let loops: Vec<(usize, &Loop)> = loops.take(MOST_LOOPS).collect();
        Some(CallPlacer {
            ended: vec![0; loops.len()],
            structure,
            sites,
            main: main_at.filter(|_| main.is_some()),
            loops,
            kinds: CallKinds::default(),
            of_kind: Vec::new(),
            in_loop: None,
            splitter: main.map(|main| CallSplitter::new(main.classes.clone(), main.anchors)),
        })
    }

    /// Places the next call, whose call site is an id of `definitions`, with the computation before it. The second place is for this computation alone, if
    /// it differs: when the loop is entered, the computation may be anything, and lies outside.
    #[inline(always)]
    pub fn place(&mut self, record: &Record, definitions: &RankDefinitions) -> (PlacedCall, Option<PlacedCall>) {
        let from = self.kinds.last();
        let kind = self.kinds.intern(record);
        if kind as usize >= self.of_kind.len() {
            self.learn(kind, definitions);
        }
        let KindPlacement { token, in_loop, is_poll, ends, after, region, before, .. } = self.of_kind[kind as usize];
        if let Some(at) = ends {
            self.end_of(at, from);
        }
        let in_loop = if is_poll { self.in_loop } else { in_loop };
        let (region, before) =
            if after == (from, in_loop) { (region, before) } else { self.between(from, kind, in_loop) };
        let end = record.end.max(record.begin);
        let interval = self.splitter.as_mut().map_or(NONE, |splitter| {
            let interval = splitter.next(token, record.begin, end);
            splitter.carry(record.sent.saturating_add(record.received));
            interval
        });
        let enters = in_loop.is_some() && self.in_loop.is_none();
        self.in_loop = in_loop;
        let has_regions = self.structure.segments.is_some();
        let placed = PlacedCall { region: has_regions.then_some(region), in_loop: in_loop.is_some(), interval };
        if enters {
            let before = PlacedCall {
                region: has_regions.then(|| outside_of_loops(before)),
                in_loop: false,
                interval: interval.checked_sub(1).filter(|_| interval != NONE).unwrap_or(NONE),
            };
            return (placed, Some(before));
        }
        let before = Some(before).filter(|before| *before != region && has_regions);
        (placed, before.map(|before| PlacedCall { region: Some(before), ..placed }))
    }

    #[cold]
    fn learn(&mut self, kind: u32, definitions: &RankDefinitions) {
        let known = CallToken::from_kind(self.kinds.get(kind), self.sites, definitions);
        let token = self.structure.tokens.get(&known).copied().unwrap_or(NONE);
        let in_loop = self.loops.iter().find(|(_, one)| one.has(token)).map(|&(at, _)| at as u8);
        let place = self.structure.segments.as_ref().map_or(0, |segments| segments.place(known.site));
        let is_poll = self.main.and_then(|at| self.structure.loops.get(at)).is_some_and(|main| main.polls(token));
        let ends = self.loops.iter().position(|(at, one)| Some(*at) != self.main && one.ends_with(token));
        self.of_kind.push(KindPlacement {
            token,
            place,
            in_loop,
            ends,
            is_poll,
            after: (NONE - 1, None),
            region: 0,
            before: 0,
        });
    }

    /// Counts an end of an iteration of an inner loop, after a call of the kind `from`. In an uninterrupted run of ends, only the first counts.
    fn end_of(&mut self, at: usize, from: u32) {
        let ended_before = self.of_kind.get(from as usize).is_some_and(|from| from.ends == Some(at));
        let runs = self.loops.get(at).is_some_and(|(_, one)| one.anchors.run);
        if let Some(count) = self.ended.get_mut(at).filter(|_| !(runs && ended_before)) {
            *count += 1;
        }
    }

    /// Returns the number of iterations of each inner loop, by the loop's number.
    pub fn inner_iterations(&self) -> Vec<(usize, u64)> {
        let counted = self.loops.iter().zip(&self.ended).map(|(&(at, _), &count)| (at, count));
        counted.filter(|&(at, _)| Some(at) != self.main).collect()
    }

    /// Returns the region from a call of one kind to a call of another, and the region of the computation between them.
    #[cold]
    fn between(&mut self, from: u32, kind: u32, in_loop: Option<u8>) -> (u32, u32) {
        let place = self.of_kind.get(from as usize).map_or(0, |from| from.place);
        let to = &mut self.of_kind[kind as usize];
        let in_loop_at = in_loop.map(usize::from);
        to.after = (from, in_loop);
        to.region = FoundRegion::number_of(in_loop_at, None);
        to.before = to.region;
        if let Some(segments) = &self.structure.segments {
            let segment = segments.between(place, to.place);
            let around = in_loop_at.map(|at| (at, self.structure.loop_around(at, segment)));
            (to.region, to.before) = match around {
                Some((at, outer)) if outer != Some(at) => {
                    let mut ending = segments.ending_at(to.place).iter().copied();
                    let own = ending.find(|&own| self.structure.loop_around(at, own) == Some(at));
                    (
                        FoundRegion::number_of(in_loop_at, own.or(Some(segment))),
                        FoundRegion::number_of(outer, Some(segment)),
                    )
                }
                _ => [FoundRegion::number_of(in_loop_at, Some(segment)); 2].into(),
            };
        }
        (to.region, to.before)
    }

    /// Returns the rank's main loop, the intervals of its calls and the reliability of their ends, if it has one.
    pub fn finish(self) -> Option<(usize, Vec<IterationInterval>, IterationEnds)> {
        let main = self.main?;
        Some((main, self.splitter?.finish(), self.structure.loops.get(main)?.ends))
    }
}

/// Returns the number of the same code between calls outside of any loop.
fn outside_of_loops(region: u32) -> u32 {
    let segment = FoundRegion::of_number(region).and_then(FoundRegion::segment);
    FoundRegion::Found { in_loop: None, segment }.number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_found_region_comes_back_from_its_number() {
        let mut all =
            vec![FoundRegion::InMarked(0, 0), FoundRegion::InMarked(MOST_AROUND, 3), FoundRegion::MarkedInLoop(17)];
        for in_loop in [None, Some(0), Some(MOST_LOOPS - 1)] {
            all.extend(
                [None, Some(0), Some((1 << SEGMENT_BITS) - 1)].map(|segment| FoundRegion::Found { in_loop, segment }),
            );
        }
        for found in all {
            assert_eq!(FoundRegion::of_number(found.number()), Some(found));
        }
        assert_eq!(FoundRegion::of_number(17), None);
    }
}
