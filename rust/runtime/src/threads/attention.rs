//! Stopping long work: the work asks whether to stop, on each thread that does it.

use std::cell::Cell;
use std::ops::Range;
use std::ptr::null;

use crate::threads::conduct::Halt;

/// Positions of a loop that are gone through between two questions: they take milliseconds at most,
/// a question tens of nanoseconds.
pub(crate) const PATIENCE: i64 = 1 << 16;

/// The status of a kernel that was told to stop.
pub(crate) const STOPPED: i32 = 4;

/// Whether to stop.
struct Question<'a>(&'a dyn Fn() -> bool);

thread_local! {
    /// The function that kernels on this thread ask; null if there is none.
    static ASKED: Cell<*const Question<'static>> = const { Cell::new(null()) };
}

/// Restores the former function, also when the work panics.
struct Restored(*const Question<'static>);

impl Drop for Restored {
    fn drop(&mut self) {
        ASKED.set(self.0);
    }
}

/// Does the work; kernels that run on this thread meanwhile ask `should_stop`.
pub(crate) fn attend<R>(should_stop: &dyn Fn() -> bool, work: impl FnOnce() -> R) -> R {
    let question = Question(should_stop);
    let _restored = Restored(ASKED.replace((&raw const question).cast()));
    work()
}

/// Asks whether the work on this thread is to stop.
pub(crate) fn ask() -> Result<(), Halt> {
    let asked = ASKED.get();
    if asked.is_null() {
        return Ok(());
    }
    // SAFETY: `attend` puts the pointer there for this thread alone, and takes it away before what
    // it points to goes. Test: `the_innermost_question_is_asked`.
    if unsafe { ((*asked).0)() } { Err(Halt::Interrupted) } else { Ok(()) }
}

/// Whether the kernel on this thread is to stop: 1 or 0.
pub(crate) fn stops() -> i32 {
    i32::from(ask().is_err())
}

/// The work that is left until the next question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience(i64);

impl Patience {
    pub(crate) fn new() -> Patience {
        Patience(PATIENCE)
    }

    /// Notes that so many positions were gone through, and asks if it is time.
    #[inline]
    pub(crate) fn spend(&mut self, positions: i64) -> Result<(), Halt> {
        self.0 = self.0.saturating_sub(positions);
        if self.0 > 0 {
            return Ok(());
        }
        self.0 = PATIENCE;
        ask()
    }
}

/// Calls `body` with the positions below `count`, one range after the other; asks in between.
#[inline]
pub(crate) fn in_portions(count: usize, mut body: impl FnMut(Range<usize>)) -> Result<(), Halt> {
    let mut start = 0;
    loop {
        let end = count.min(start + PATIENCE as usize);
        body(start..end);
        if end == count {
            return Ok(());
        }
        ask()?;
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped() -> bool {
        stops() == 1
    }

    #[test]
    fn the_innermost_question_is_asked() {
        assert!(!stopped());
        let answer = Cell::new(false);
        attend(&|| answer.get(), || {
            assert!(!stopped());
            answer.set(true);
            assert!(stopped());
            attend(&|| false, || assert!(!stopped()));
            assert!(stopped());
            std::thread::spawn(|| assert!(!stopped())).join().unwrap();
        });
        assert!(!stopped());
    }

    #[test]
    fn who_is_patient_asks_after_so_many_positions() {
        let asked = Cell::new(0);
        let question = || {
            asked.set(asked.get() + 1);
            asked.get() == 3
        };
        attend(&question, || {
            let mut patience = Patience::new();
            assert_eq!((0..PATIENCE / 4 - 1).try_for_each(|_| patience.spend(4)), Ok(()));
            assert_eq!(asked.get(), 0);
            assert_eq!(patience.spend(i64::MAX), Ok(()));
            assert_eq!(asked.get(), 1);
            let mut seen = Vec::new();
            let done = in_portions(5 * PATIENCE as usize, |part| seen.push(part.len()));
            assert_eq!(done, Err(Halt::Interrupted));
            assert_eq!(seen, [PATIENCE as usize; 2]);
        });
        let mut seen = Vec::new();
        assert_eq!(in_portions(7, |part| seen.extend(part)), Ok(()));
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_panic_takes_the_question_away() {
        let panicked = std::panic::catch_unwind(|| attend(&|| true, || panic!("meant")));
        assert!(panicked.is_err());
        assert!(!stopped());
    }
}
