//! Work that is done ahead on another core.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use rayon::Scope;

/// Work under way.
pub struct Ahead<T>(Receiver<T>);

impl<T: Send> Ahead<T> {
    /// Begins work on a thread of the pool.
    pub fn begin<'scope>(scope: &Scope<'scope>, work: impl FnOnce() -> T + Send + 'scope) -> Self
    where
        T: 'scope,
    {
        let (to, from) = sync_channel(1);
        scope.spawn(move |_| {
            // Nobody waits for it any more where all was given up.
            let _ = to.send(work());
        });
        Ahead(from)
    }

    /// What came out; `None` where it was broken off. A thread of the pool works itself meanwhile, for there may be no other.
    pub fn wait(self) -> Option<T> {
        loop {
            match self.0.try_recv() {
                Ok(done) => return Some(done),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) if rayon::yield_now().is_none() => return self.0.recv().ok(),
                Err(TryRecvError::Empty) => std::thread::yield_now(),
            }
        }
    }
}
