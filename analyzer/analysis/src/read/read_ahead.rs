//! Work that is done ahead on another core.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use rayon::Scope;

/// Work under way.
pub struct ReadAhead<T> {
    from: Receiver<T>,
    /// The result, once the work is done.
    done: Option<T>,
}

impl<T: Send> ReadAhead<T> {
    /// Begins work on a thread of the pool.
    pub fn begin<'scope>(scope: &Scope<'scope>, work: impl FnOnce() -> T + Send + 'scope) -> Self
    where
        T: 'scope,
    {
        let (to, from) = sync_channel(1);
        scope.spawn(move |_| {
            // After an error no thread waits for the result any more.
            let _ = to.send(work());
        });
        ReadAhead { from, done: None }
    }

    /// Returns whether the work is done or was aborted: [`ReadAhead::wait`] does not wait then.
    pub fn is_over(&mut self) -> bool {
        if self.done.is_none() {
            match self.from.try_recv() {
                Ok(done) => self.done = Some(done),
                Err(error) => return error == TryRecvError::Disconnected,
            }
        }
        true
    }

    /// Waits for the result, or returns `None` if the work was aborted. A thread of the pool works itself meanwhile, because there may be no
    /// other one.
    pub fn wait(mut self) -> Option<T> {
        while !self.is_over() {
            if rayon::yield_now().is_none() {
                return self.from.recv().ok();
            }
            std::thread::yield_now();
        }
        self.done
    }
}
