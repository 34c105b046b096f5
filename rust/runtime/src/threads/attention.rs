//! How a kernel that is long at one element learns that it is to stop: it asks a function.

use std::cell::Cell;
use std::ptr::null;

/// The status of a kernel that was told to stop.
pub(crate) const STOPPED: i32 = 4;

/// Whether to stop.
struct Question<'a>(&'a dyn Fn() -> bool);

thread_local! {
    /// What kernels on this thread ask; null where there is nobody to ask.
    static ASKED: Cell<*const Question<'static>> = const { Cell::new(null()) };
}

/// Puts back whom kernels asked before, also when the work panics.
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

/// Whether the kernel on this thread is to stop: 1 or 0.
///
/// # Safety
/// None is needed of the caller; kernels call all functions of the runtime in one way.
pub(crate) unsafe fn stops() -> i32 {
    let asked = ASKED.get();
    if asked.is_null() {
        return 0;
    }
    // SAFETY: `attend` puts the pointer there for this thread alone, and takes it away before what
    // it points to goes. Test: `the_innermost_question_is_asked`.
    i32::from(unsafe { ((*asked).0)() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped() -> bool {
        // SAFETY: it asks nothing of the caller.
        unsafe { stops() == 1 }
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
    fn a_panic_takes_the_question_away() {
        let panicked = std::panic::catch_unwind(|| attend(&|| true, || panic!("meant")));
        assert!(panicked.is_err());
        assert!(!stopped());
    }
}
