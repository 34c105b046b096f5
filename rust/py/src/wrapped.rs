//! Values of the core within Python objects.

use std::ops::Deref;

use pyo3::prelude::*;

/// A value of the core that a Python object wraps.
pub trait Wrap: Sized {
    /// Takes the object out of the table of wrappers, and drops the value.
    fn release(self, py: Python<'_>);
}

/// The content of a wrapper: a value that is released when the wrapper dies.
pub struct Wrapped<T: Wrap>(Option<T>);

impl<T: Wrap> Wrapped<T> {
    pub fn new(value: T) -> Wrapped<T> {
        Wrapped(Some(value))
    }
}

impl<T: Wrap> Deref for Wrapped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("only dropping takes the value")
    }
}

impl<T: Wrap> Drop for Wrapped<T> {
    fn drop(&mut self) {
        let Some(value) = self.0.take() else { return };
        Python::attach(|py| value.release(py));
    }
}
