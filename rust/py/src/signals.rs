//! Signals that arrive during a long call, such as Ctrl-C.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::owned::Raised;

/// The time between two looks at the signals: taking the GIL makes others wait.
const PERIOD: Duration = Duration::from_millis(20);

/// The time that a run keeps the GIL from other threads: as long as Python code does by default.
const TURN: Duration = Duration::from_millis(5);

/// Looks for signals in a thread that runs a program.
#[derive(Default)]
pub struct Signals {
    /// Whether the thread holds the GIL.
    holds: bool,
    /// When the GIL was taken that is held; `None` before the first question.
    taken: Cell<Option<Instant>>,
    /// Whether it was given to others.
    turns: Cell<bool>,
    /// When to look next; `None` before the first question.
    next: Cell<Option<Instant>>,
    /// The exception that a signal's handler raised.
    pub error: RefCell<Option<Raised>>,
}

impl Signals {
    /// For a thread that holds the GIL: other threads get it for a while where a run takes long.
    pub fn holding() -> Signals {
        Signals { holds: true, ..Signals::default() }
    }

    /// Whether a handler has raised an exception. Python runs handlers in its main thread only;
    /// elsewhere nothing is ever raised.
    pub fn raised(&self) -> bool {
        let now = Instant::now();
        if self.holds {
            self.take_turns(now);
        }
        match self.next.get() {
            None => self.next.set(Some(now + PERIOD)),
            Some(next) if now >= next => {
                // Without an interpreter, when it is shutting down, there are no handlers either.
                if let Some(Err(error)) = Python::try_attach(|py| py.check_signals()) {
                    *self.error.borrow_mut() = Some(error.into());
                    return true;
                }
                self.next.set(Some(Instant::now() + PERIOD));
            }
            Some(_) => {}
        }
        false
    }

    /// Whether others got the GIL meanwhile.
    pub fn took_turns(&self) -> bool {
        self.turns.get()
    }

    /// Gives the GIL to others that wait for it, once its turn is over.
    fn take_turns(&self, now: Instant) {
        match self.taken.get() {
            Some(taken) if now < taken + TURN => {}
            Some(_) => {
                self.turns.set(true);
                Python::try_attach(|py| py.detach(|| ()));
                self.taken.set(Some(Instant::now()));
            }
            None => self.taken.set(Some(now)),
        }
    }
}
