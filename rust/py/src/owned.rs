//! References to Python objects that are owned by crates without knowledge of Python.
//!
//! Those crates drop their objects in any place, mostly without the GIL. PyO3 would note such an object under a lock of
//! its own, to release it later. If another thread forks while a thread holds that lock, the child never gets it. So an
//! object that is handed to these crates takes the GIL before it is dropped, or waits until its own thread has the GIL:
//! a run that drops an array between two calls of Python functions takes the GIL for those calls only.

use std::any::Any;
use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::mem;
use std::ops::Deref;

use pyo3::marker::Ungil;
use pyo3::prelude::*;

/// Objects that wait for their thread to have the GIL.
type Waiting = Vec<Box<dyn Any>>;

thread_local! {
    /// `None` where objects do not wait.
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

/// Runs `body` without the GIL. Objects that it drops wait for the GIL.
pub fn detached<T: Ungil>(py: Python<'_>, body: impl FnOnce() -> T + Ungil) -> T {
    let outer = WAITING.replace(Some(Vec::new()));
    let result = py.detach(body);
    drop(WAITING.replace(outer));
    result
}

/// More applications of ops than these take longer than about 30 microseconds to walk, build or free.
pub const FEW: usize = 64;

/// Runs `body`, and gives the GIL to other threads meanwhile if it takes long. A thread that gives the GIL away for a
/// moment waits for it much longer: until another thread gives it away, or 5 milliseconds.
pub fn detached_if<T: Ungil>(long: bool, py: Python<'_>, body: impl FnOnce() -> T + Ungil) -> T {
    match long {
        true => py.detach(body),
        false => body(),
    }
}

/// Runs `body` with the GIL, after the objects that waited for it are dropped.
pub fn attached<T>(body: impl FnOnce(Python<'_>) -> T) -> T {
    Python::attach(|py| {
        let waiting = WAITING.take();
        let waits = waiting.is_some();
        drop(waiting);
        let result = body(py);
        WAITING.set(waits.then(Vec::new));
        result
    })
}

/// A reference to a Python object that goes with the GIL.
pub struct Owned<T: 'static>(Option<Py<T>>);

impl<T> From<Py<T>> for Owned<T> {
    fn from(object: Py<T>) -> Owned<T> {
        Owned(Some(object))
    }
}

impl<T> Deref for Owned<T> {
    type Target = Py<T>;

    fn deref(&self) -> &Py<T> {
        self.0.as_ref().expect("only dropping takes the object")
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        let waits = |waiting: &RefCell<Option<Waiting>>| {
            if let Some(waiting) = &mut *waiting.borrow_mut()
                && let Some(object) = self.0.take()
            {
                waiting.push(Box::new(object));
            }
        };
        // No object waits for a thread that ends.
        let _ = WAITING.try_with(waits);
        give_back(self.0.take());
    }
}

/// An exception as the error of a crate that knows no Python.
pub struct Raised(Option<PyErr>);

impl Raised {
    /// The exception.
    pub fn into_exception(mut self) -> PyErr {
        self.0.take().expect("only this function and dropping take the exception")
    }

    fn exception(&self) -> &PyErr {
        self.0.as_ref().expect("only dropping takes the exception")
    }
}

impl From<PyErr> for Raised {
    fn from(exception: PyErr) -> Raised {
        Raised(Some(exception))
    }
}

impl fmt::Debug for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.exception(), f)
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.exception(), f)
    }
}

impl Error for Raised {}

impl Drop for Raised {
    fn drop(&mut self) {
        give_back(self.0.take());
    }
}

/// Drops something of Python's with the GIL; where there is no interpreter any more, nothing is left to give it to.
fn give_back<T>(mut owned: Option<T>) {
    if owned.is_some() {
        Python::try_attach(|_| drop(owned.take()));
        mem::forget(owned);
    }
}
