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

/// Makes the loop so many levels within the main one the main loop, by the inner loop that takes most time on each level; of a negative `level` the one
/// so many levels around it. Stops where there is no further level.
pub fn move_main(loops: &mut [FoundLoop], level: i32) {
    let Some(first) = loops.iter().position(|one| one.main) else { return };
    let mut main = first;
    for _ in 0..level.unsigned_abs() {
        let inner = (0..loops.len()).filter(|&at| loops[at].parent == Some(main)).max_by_key(|&at| loops[at].time);
        let Some(next) = (if level > 0 { inner } else { loops[main].parent }) else { break };
        main = next;
    }
    loops[first].main = false;
    loops[main].main = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(parent: Option<usize>, time: u64, main: bool) -> FoundLoop {
        FoundLoop {
            parent,
            tokens: Vec::new(),
            anchor: Anchor { tokens: Vec::new(), run: false },
            core: Vec::new(),
            by_rhythm: false,
            iterations: 9,
            time,
            alike: 1.0,
            main,
        }
    }

    #[test]
    fn the_main_loop_moves_to_levels_within_and_around_it() {
        let main_at = |level| {
            let mut loops = vec![
                nested(None, 90, false),
                nested(Some(0), 80, true),
                nested(Some(1), 20, false),
                nested(Some(1), 50, false),
            ];
            move_main(&mut loops, level);
            loops.iter().position(|one| one.main)
        };
        assert_eq!([-2, -1, 0, 1, 2].map(main_at), [Some(0), Some(0), Some(1), Some(3), Some(3)]);
    }
}
