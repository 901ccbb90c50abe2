//! Joins one rank's frames in the order of its log.
//!
//! ```text
//!   in the file     0–40   40–90   40–90   130–150   140–160   150–170
//!   in the log      0–40   40–90           130–150             150–170      missing: 90–130, in conflict: 140–160
//! ```
//!
//! Two frames with the same place: the later one, because a frame is only written again, or something else in its place, after the recorder was
//! informed that writing it had failed. They are in conflict unless they are equal.

use crate::node::scan::ValidFrame;

/// The extent of a part of a rank's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogExtent {
    /// Offset in the log.
    pub offset: u64,
    /// Offset in the node file.
    pub at: u64,
    /// Number of bytes.
    pub length: u32,
}

/// A rank's log as its frames give it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameChain {
    /// The parts that follow one another.
    pub parts: Vec<LogExtent>,
    /// Gaps before some of them: offset in the log, number of bytes.
    pub gaps: Vec<(u64, u64)>,
    /// Frames that state another content for a place that is taken.
    pub in_conflict: u64,
}

impl FrameChain {
    /// The chain of a rank's frames, in the order in which they stand in the file.
    pub fn from_frames(frames: &[ValidFrame]) -> FrameChain {
        let mut sorted: Vec<&ValidFrame> = frames.iter().collect();
        // Stable: of one place, in the order of the file.
        sorted.sort_by_key(|frame| frame.head.offset);
        let mut chain = FrameChain::default();
        let mut end = 0;
        for same in sorted.chunk_by(|a, b| a.head.offset == b.head.offset) {
            // An empty frame says only that the rank is there.
            let Some(frame) = same.iter().rfind(|frame| frame.head.length > 0) else { continue };
            let others = same.iter().filter(|other| other.head.length > 0 && other.head != frame.head);
            chain.in_conflict += others.count() as u64;
            let &ValidFrame { head, at } = *frame;
            if head.offset < end {
                chain.in_conflict += 1;
                continue;
            }
            if end < head.offset {
                chain.gaps.push((end, head.offset - end));
            }
            chain.parts.push(LogExtent { offset: head.offset, at, length: head.length });
            end = head.offset + u64::from(head.length);
        }
        chain
    }

    /// The offset at which the log ends.
    pub fn end(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.offset + u64::from(part.length))
    }

    /// Bytes that are missing.
    pub fn missing(&self) -> u64 {
        self.gaps.iter().map(|&(_, bytes)| bytes).fold(0, u64::saturating_add)
    }

    /// Returns whether something is missing from this byte of the log on.
    pub fn is_missing(&self, offset: u64) -> bool {
        self.gaps.iter().any(|&(begin, bytes)| (begin..begin.saturating_add(bytes)).contains(&offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::frame::FrameHead;

    /// A frame that holds the bytes from `begin` to `end` of its rank's log.
    fn frame(at: u64, begin: u64, end: u64, content: u8) -> ValidFrame {
        let head = FrameHead::for_payload(1, 0, begin, &vec![content; (end - begin) as usize]).unwrap();
        ValidFrame { head, at }
    }

    fn part(at: u64, begin: u64, end: u64) -> LogExtent {
        LogExtent { offset: begin, at, length: (end - begin) as u32 }
    }

    #[test]
    fn frames_in_any_order_are_a_log_whose_gaps_and_conflicts_are_counted() {
        let frames = [
            frame(32, 0, 40, 1),
            frame(500, 130, 150, 1),
            frame(200, 40, 90, 1),
            frame(300, 40, 90, 1),
            frame(600, 140, 160, 1),
            frame(700, 150, 170, 1),
        ];
        let chain = FrameChain::from_frames(&frames);
        assert_eq!(chain.parts, [part(32, 0, 40), part(300, 40, 90), part(500, 130, 150), part(700, 150, 170)]);
        assert_eq!((chain.gaps.as_slice(), chain.in_conflict, chain.end()), (&[(90, 40)][..], 1, 170));
        assert_eq!(
            (chain.is_missing(90), chain.is_missing(129), chain.is_missing(130), chain.is_missing(89)),
            (true, true, false, false)
        );
    }

    #[test]
    fn of_two_contents_for_one_place_the_later_one_counts() {
        // The first of them was reported as not written; the recorder went on with the second.
        let frames = [frame(32, 0, 40, 1), frame(100, 40, 240, 2), frame(400, 40, 140, 3), frame(600, 140, 200, 4)];
        let chain = FrameChain::from_frames(&frames);
        assert_eq!(chain.parts, [part(32, 0, 40), part(400, 40, 140), part(600, 140, 200)]);
        assert_eq!((chain.gaps.len(), chain.in_conflict), (0, 1));
    }

    #[test]
    fn an_empty_frame_is_no_conflict() {
        let chain = FrameChain::from_frames(&[frame(32, 0, 0, 0), frame(64, 0, 40, 1), frame(200, 40, 40, 0)]);
        assert_eq!((chain.parts.as_slice(), chain.in_conflict), (&[part(64, 0, 40)][..], 0));
        assert_eq!(FrameChain::from_frames(&[frame(32, 0, 0, 0)]), FrameChain::default());
    }
}
