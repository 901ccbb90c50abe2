//! The functions that led to a sample, held against those down to a node of the tree.

use crate::structure::code::sampled_code::{SampledCode, SampledLink};

#[derive(Clone, Copy, Debug)]
pub(super) struct SampleFrame<'a> {
    /// The function, an index of the sampled code's functions.
    pub(super) function: u32,
    /// Its name; empty if it is not known.
    pub(super) name: &'a str,
    /// True if MPI called it.
    pub(super) is_called_back: bool,
}

/// Returns the functions that led to a node of `code`, the outermost first. One that a compiler split, and put back into itself, is one.
pub(super) fn list_frames(code: &SampledCode, node: u32) -> Vec<SampleFrame<'_>> {
    let mut frames: Vec<SampleFrame> = Vec::new();
    let mut next = code.nodes.get(node as usize);
    let mut is_inlined = false;
    while let Some(at) = next {
        let name = code.functions.get(at.function as usize).map_or("", |function| function.name.as_str());
        if !is_inlined || frames.last().is_none_or(|inner| inner.name != name || name.is_empty()) {
            frames.push(SampleFrame {
                function: at.function,
                name,
                is_called_back: at.link == SampledLink::CalledBack,
            });
        }
        is_inlined = at.link == SampledLink::Inlined;
        next = at.parent.and_then(|parent| code.nodes.get(parent as usize));
    }
    frames.reverse();
    frames
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FrameMatch {
    /// Number of functions that are among the frames.
    pub(super) functions: usize,
    /// Number of frames up to the last of them.
    pub(super) frames: usize,
}

impl FrameMatch {
    /// Looks for `functions` among `frames`, both the outermost first. Compilers and unwinders leave out frames, and samples have more of them than call paths.
    pub(super) fn find(functions: &[&str], frames: &[SampleFrame]) -> FrameMatch {
        let mut found = FrameMatch::default();
        for (frame, at) in frames.iter().zip(1..) {
            if functions.get(found.functions) == Some(&frame.name) {
                found = FrameMatch { functions: found.functions + 1, frames: at };
            }
        }
        found
    }
}

/// Returns the number of `frames` that lead to the innermost of `functions`. If frames begin further in than the program, only the last functions count; if they
/// leave the functions on the way, the frames up to there.
pub(super) fn count_shared(functions: &[&str], frames: &[SampleFrame]) -> usize {
    let whole = (0..functions.len()).find_map(|from| {
        let found = FrameMatch::find(&functions[from..], frames);
        (found.functions == functions.len() - from).then_some(found.frames)
    });
    whole.unwrap_or_else(|| FrameMatch::find(functions, frames).frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames below the innermost function.
    fn below(functions: &[&str], frames: &[&'static str]) -> Vec<&'static str> {
        let frame = |&name: &&'static str| SampleFrame { function: 0, name, is_called_back: false };
        let list: Vec<SampleFrame> = frames.iter().map(frame).collect();
        frames[count_shared(functions, &list)..].to_vec()
    }

    #[test]
    fn frames_around_a_node_are_not_in_it() {
        assert_eq!(below(&["main", "step"], &["main", "step", "force", "exp"]), ["force", "exp"]);
        assert_eq!(
            below(&["main", "step"], &["main", "run", "step", "force"]),
            ["force"],
            "a frame without a call path"
        );
        assert_eq!(below(&["main", "step"], &["step", "force"]), ["force"], "the outer calls are not known");
        assert_eq!(below(&["main", "step"], &["force"]), ["force"]);
        assert_eq!(below(&["main", "step"], &["main", "energy"]), ["energy"], "another function of main");
        assert_eq!(below(&["main", "tree"], &["main", "tree", "tree"]), ["tree"], "a recursion");
        assert_eq!(below(&[], &["main", "step"]), ["main", "step"]);
        assert_eq!(below(&["main"], &[]), Vec::<&str>::new());
    }
}
