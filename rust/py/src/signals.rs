//! Signals that arrive during a long call, such as Ctrl-C.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The time between two looks at the signals: taking the GIL makes others wait.
const PERIOD: Duration = Duration::from_millis(20);

/// Looks for signals in a thread that does not hold the GIL.
#[derive(Default)]
pub struct Signals {
    /// When to look next; `None` before the first question.
    next: Cell<Option<Instant>>,
    /// What a signal's handler raised.
    pub error: RefCell<Option<PyErr>>,
}

impl Signals {
    /// Whether a handler has raised an exception. Python runs handlers in its main thread only;
    /// elsewhere nothing is ever raised.
    pub fn raised(&self) -> bool {
        let now = Instant::now();
        match self.next.get() {
            None => self.next.set(Some(now + PERIOD)),
            Some(next) if now >= next => {
                // Without an interpreter, when it is shutting down, there are no handlers either.
                if let Some(Err(error)) = Python::try_attach(|py| py.check_signals()) {
                    *self.error.borrow_mut() = Some(error);
                    return true;
                }
                self.next.set(Some(Instant::now() + PERIOD));
            }
            Some(_) => {}
        }
        false
    }
}
