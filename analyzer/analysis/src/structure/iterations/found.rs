//! A loop that was found.

/// What marks the end of each iteration of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Each of these ends an iteration; ascending.
    pub tokens: Vec<u32>,
    /// Whether an uninterrupted run of them ends one iteration, not each of them.
    pub run: bool,
}

/// A loop of the program, as far as its calls show.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLoop {
    /// The loop around it, an index into the same list; `None` for an outermost loop.
    pub parent: Option<usize>,
    /// All tokens that occur inside, those of inner loops too; ascending.
    pub tokens: Vec<u32>,
    /// What ends an iteration.
    pub anchor: Anchor,
    /// Tokens that occur exactly once in each iteration that the window shows as a whole; ascending.
    pub core: Vec<u32>,
    /// Whether nothing but its rhythm makes it a loop around an inner one: what a program does in every fifth iteration, as output, is
    /// no other in its calls than a loop of five steps.
    pub by_rhythm: bool,
    /// Anchors in the window: its iterations, those that the window cuts off included.
    pub iterations: usize,
    /// Ticks of the window that the loop covers.
    pub time: u64,
    /// Share of the iterations that consist of the same calls as the most common kind of them, in 0..=1.
    pub alike: f64,
    /// Whether this is the program's main loop. At most one is.
    pub main: bool,
}
