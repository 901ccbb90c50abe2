//! Partial results that become one.

/// A partial result that can be merged with the one that follows: of higher ranks, or of later segments of the run. Merging is associative, so that
/// the grouping does not matter; the order does.
pub trait PartialResult: Sized {
    fn merge(self, next: Self) -> Self;
}

/// A part that may be missing: a process has no ranks, or a log cannot be read.
impl<T: PartialResult> PartialResult for Option<T> {
    fn merge(self, next: Self) -> Self {
        match (self, next) {
            (Some(part), Some(next)) => Some(part.merge(next)),
            (part, next) => part.or(next),
        }
    }
}
