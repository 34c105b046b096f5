//! The way in which a run does the pieces of a large step: the number of threads, and the question whether to stop.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use frazil_core::intern::sync::Mutex;

use crate::allocation::buffer::Buffer;
use crate::error::Fault;
use crate::threads::attention::{STOPPED, attend};
use crate::threads::split::Split;
use crate::threads::thread_pool::assisted;

/// Work below this is done before a helper would be there.
const WORTH_HELP: Duration = Duration::from_micros(40);

/// The way in which a run is carried out. No result depends on it.
#[derive(Clone, Copy)]
pub struct Conduct<'a> {
    /// The threads that work at once, the caller's included; `None`: as many as this process may run.
    pub threads: Option<usize>,
    /// Asked by the caller's thread between steps and pieces, and within long ones as `attention.rs` says: every few
    /// milliseconds at least. Once it says yes, the run ends with [`Fault::Interrupted`].
    pub should_stop: &'a dyn Fn() -> bool,
}

impl Conduct<'static> {
    /// On the caller's thread, to the end.
    pub const ALONE: Conduct<'static> = Conduct { threads: Some(1), should_stop: &|| false };
}

impl Conduct<'_> {
    /// Does the work with a conduct of so many threads. What `should_stop` says is asked by kernels
    /// that are long at one element, too; once it has said yes, that is the answer.
    pub fn attended<R>(
        threads: Option<usize>,
        should_stop: &dyn Fn() -> bool,
        work: impl FnOnce(&Conduct<'_>) -> R,
    ) -> R {
        let stopped = Cell::new(false);
        let should_stop = || {
            stopped.set(stopped.get() || should_stop());
            stopped.get()
        };
        attend(&should_stop, || work(&Conduct { threads, should_stop: &should_stop }))
    }

    /// The threads that work at once. Ask where it matters: a small first run need not ask the system, which takes
    /// a tenth of a millisecond.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(parallel_threads)
    }
}

/// The number of threads of a run without a setting: what [`given_threads`] says, else as many as this process may run.
pub fn default_threads() -> usize {
    given_threads().unwrap_or_else(parallel_threads)
}

/// The number in `OMP_NUM_THREADS` when it was first asked for; `None` if there was none.
///
/// Python changes the environment with the GIL held and tells Rust nothing: ask with it held, too.
pub fn given_threads() -> Option<usize> {
    const NONE: usize = usize::MAX;
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    let given = first_answer(&GIVEN, || {
        let text = std::env::var("OMP_NUM_THREADS").ok();
        text.as_deref().and_then(threads_in).unwrap_or(NONE)
    });
    (given != NONE).then_some(given)
}

/// The threads that this process might run at once when it was first asked.
fn parallel_threads() -> usize {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    first_answer(&KNOWN, || available_parallelism().map_or(1, usize::from))
}

/// What `known` holds, or the answer if it is still zero. Not a `OnceLock`: after a fork one may never be finished.
fn first_answer(known: &AtomicUsize, answer: impl FnOnce() -> usize) -> usize {
    match known.load(Ordering::Relaxed) {
        0 => {
            let own = answer();
            let first = known.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
            first.map_or_else(|first| first, |_| own)
        }
        first => first,
    }
}

/// The number in a value of `OMP_NUM_THREADS`, which lists one for each level of nesting.
fn threads_in(value: &str) -> Option<usize> {
    let first = value.split(',').next()?;
    first.trim().parse().ok().filter(|&threads| threads > 0)
}

/// Why pieces were left undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The status of the first piece, in their order, that has another than zero.
    Status(i32),
    Interrupted,
}

impl From<Halt> for Fault {
    fn from(halt: Halt) -> Fault {
        match halt {
            Halt::Status(1) => Fault::NegativePower,
            Halt::Status(STOPPED) => Fault::Interrupted,
            Halt::Status(status) => Fault::Kernel { status },
            Halt::Interrupted => Fault::Interrupted,
        }
    }
}

impl Halt {
    /// The meaning of a kernel's status.
    pub(crate) fn check(status: i32) -> Result<(), Halt> {
        if status == 0 { Ok(()) } else { Err(Halt::Status(status)) }
    }
}

/// The pieces of one step.
struct Pieces<'a> {
    count: usize,
    next: AtomicUsize,
    ended: AtomicBool,
    failed: Mutex<Option<(usize, i32)>>,
    body: &'a (dyn Fn(usize, *mut u8) -> i32 + Sync),
}

impl Pieces<'_> {
    /// Does the next piece; whether there was one.
    fn one(&self, scratch: *mut u8) -> bool {
        if self.ended.load(Ordering::Relaxed) {
            return false;
        }
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        if piece >= self.count {
            return false;
        }
        let status = (self.body)(piece, scratch);
        if status == STOPPED {
            // Its thread was told by one that knows why.
            self.ended.store(true, Ordering::Relaxed);
        } else if status != 0 {
            // All pieces before this one are done or being done: the first is known in the end.
            self.ended.store(true, Ordering::Relaxed);
            let mut failed = self.failed.lock();
            if failed.is_none_or(|(first, _)| piece < first) {
                *failed = Some((piece, status));
            }
        }
        true
    }
}

impl Conduct<'_> {
    /// Calls `body` once for each piece of a split, with scratch memory that no other has at that
    /// time: `scratch`, or as many `bytes` elsewhere. It gives a status: after one that is not
    /// zero, no further piece is begun.
    ///
    /// Whether helpers are called depends on how long the run before took, or the first pieces;
    /// the pieces themselves do not.
    pub(crate) fn run(
        &self,
        split: &Split,
        bytes: usize,
        scratch: *mut u8,
        body: &(dyn Fn(usize, *mut u8) -> i32 + Sync),
    ) -> Result<(), Halt> {
        let count = split.pieces();
        let pieces = Pieces {
            count,
            next: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            failed: Mutex::new(None),
            body,
        };
        let mut interrupted = false;
        let mut go_on = || {
            if !pieces.one(scratch) {
                return false;
            }
            interrupted = (self.should_stop)();
            if interrupted {
                pieces.ended.store(true, Ordering::Relaxed);
            }
            !interrupted
        };
        if count > 1 && self.threads() > 1 {
            let start = Instant::now();
            // Estimates one thread's time for `of` pieces from the time since the start, in which so many threads did
            // `done` pieces.
            let alone = |threads: usize, done: usize, of: usize| {
                start.elapsed().saturating_mul((threads * of) as u32) / done as u32
            };
            let help = || {
                // Without memory the others do it.
                if let Ok(scratch) = Buffer::new(bytes) {
                    let should_stop = || pieces.ended.load(Ordering::Relaxed);
                    attend(&should_stop, || while pieces.one(scratch.as_ptr()) {});
                }
            };
            let mut done = 0;
            let mut helped = split.was_long();
            while !helped && done + 1 < count && go_on() {
                done += 1;
                helped = alone(1, done, count - done) >= WORTH_HELP;
            }
            if helped {
                let helpers = (count - done).min(self.threads()) - 1;
                assisted(helpers, &help, || while go_on() {});
                split.note(alone(helpers + 1, count, count) >= WORTH_HELP);
            }
        }
        while go_on() {}
        match *pieces.failed.lock() {
            Some((_, status)) => Err(Halt::Status(status)),
            None if interrupted => Err(Halt::Interrupted),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;
    use std::sync::Barrier;

    use super::*;
    use crate::threads::split::LoopLevel;

    fn in_pieces() -> Split {
        let level = LoopLevel { length: 1 << 8, copied: 0, divisible: true };
        Split::with_grain(&[level], 1).expect("so many positions are cut")
    }

    #[test]
    fn after_a_long_run_help_is_called_at_once() {
        let split = in_pieces();
        split.note(true);
        // Neither of two pieces ends before both have begun.
        let both = Barrier::new(2);
        let body = |piece: usize, _: *mut u8| {
            if piece < 2 {
                both.wait();
            }
            0
        };
        let conduct = Conduct { threads: Some(2), ..Conduct::ALONE };
        assert_eq!(conduct.run(&split, 0, ptr::null_mut(), &body), Ok(()));
    }

    #[test]
    fn a_run_notes_whether_it_was_long() {
        let split = in_pieces();
        let conduct = Conduct { threads: Some(2), ..Conduct::ALONE };
        let run = |each: Duration| {
            let body = |_: usize, _: *mut u8| {
                let start = Instant::now();
                while start.elapsed() < each {}
                0
            };
            conduct.run(&split, 0, ptr::null_mut(), &body)
        };
        assert!(!split.was_long());
        assert_eq!(run(WORTH_HELP), Ok(()));
        assert!(split.was_long());
        // The processor may be taken away for a while from some runs, not from all.
        let is_short = |_| run(Duration::ZERO) == Ok(()) && !split.was_long();
        assert!((0..10_000).any(is_short));
    }
}
