//! The time that a program has run, which tells whether a faster program is worth its compilation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time that the runs of a program took, and how much of it is awaited.
#[derive(Debug)]
pub(crate) struct Heat {
    spent: AtomicU64,
    due: AtomicU64,
}

impl Default for Heat {
    /// No one waits.
    fn default() -> Heat {
        Heat { spent: AtomicU64::new(0), due: AtomicU64::new(u64::MAX) }
    }
}

impl Heat {
    /// Waits for so much time, from now on.
    pub(crate) fn await_time(&self, time: Duration) {
        self.spent.store(0, Ordering::Relaxed);
        let due = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX - 1).min(u64::MAX - 1);
        self.due.store(due, Ordering::Relaxed);
    }

    /// Adds the time of a run. Nothing is counted if no reader waits for it.
    #[inline]
    pub(crate) fn add(&self, nanos: u64) {
        if self.due.load(Ordering::Relaxed) != u64::MAX {
            self.spent.fetch_add(nanos, Ordering::Relaxed);
        }
    }

    /// Whether the time has come; true once.
    #[inline]
    pub(crate) fn take_due(&self) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        due != u64::MAX
            && self.spent.load(Ordering::Relaxed) >= due
            && self
                .due
                .compare_exchange(due, u64::MAX, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_comes_once() {
        let heat = Heat::default();
        heat.add(1 << 40);
        assert!(!heat.take_due());
        heat.await_time(Duration::from_nanos(100));
        heat.add(99);
        assert!(!heat.take_due());
        heat.add(1);
        assert!(heat.take_due() && !heat.take_due());
    }

    #[test]
    fn one_thread_of_many_is_told() {
        let heat = Heat::default();
        heat.await_time(Duration::from_nanos(4000));
        let told: usize = std::thread::scope(|scope| {
            let own = || {
                (0..2000)
                    .filter(|_| {
                        heat.add(1);
                        heat.take_due()
                    })
                    .count()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(own)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(told, 1);
    }
}
