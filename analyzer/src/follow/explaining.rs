//! Hands what the engine finds out to who explains it, on another core: nothing that is explained changes what is followed.

use rayon::Scope;

use crate::ahead::Ahead;
use crate::blocking::{Explainer, Story};
use crate::timeline::Ns;

/// The story that is being told, and the one that is being explained.
pub struct Explaining<'a, 'scope> {
    scope: &'a Scope<'scope>,
    /// What was not handed over yet.
    pub story: Story,
    busy: Option<Ahead<(Explainer, Story)>>,
    /// Where critical paths begin, and how much history is kept.
    limits: (Ns, usize),
}

impl<'a, 'scope> Explaining<'a, 'scope> {
    /// Nothing was told yet. Critical paths begin at `from`; of histories of `most` stretches and causes old ones are forgotten.
    pub fn new(scope: &'a Scope<'scope>, from: Ns, most: usize) -> Self {
        Explaining { scope, story: Story::default(), busy: None, limits: (from, most) }
    }

    /// Lets the story be explained once those before it are; `now`: all threads have been followed until then; `ends`: when the windows of
    /// threads have ended, once all have, for the critical path.
    pub fn hand_over(&mut self, now: Ns, ends: Vec<(u32, Ns)>) {
        let (mut explainer, room) = self.back();
        let mut story = std::mem::replace(&mut self.story, room);
        self.busy = Some(Ahead::begin(self.scope, move || {
            explainer.hear(&story);
            explainer.follow_path(&ends);
            explainer.forget(now);
            story.clear();
            (explainer, story)
        }));
    }

    /// Who has heard all; `ends` as above.
    pub fn finish(mut self, ends: &[(u32, Ns)]) -> Explainer {
        let (mut explainer, _) = self.back();
        explainer.hear(&self.story);
        explainer.follow_path(ends);
        explainer
    }

    fn back(&mut self) -> (Explainer, Story) {
        let (from, most) = self.limits;
        self.busy.take().and_then(Ahead::wait).unwrap_or_else(|| (Explainer::new(from, most), Story::default()))
    }
}
