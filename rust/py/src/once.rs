//! Objects that exist once in the process, made at their first use without a lock.
//!
//! The cells of PyO3 give the GIL away within their lock. If another thread forks then, the child finds a lock that
//! nobody will ever give back, and its first use of the object waits for ever. Here no thread waits for another: two
//! may both make the object, and the first one counts. What is only set and read with the GIL held, and makes nothing
//! meanwhile, may be in a `OnceLock`: no thread forks while it is set.

use once_cell::race::OnceBox;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// A value that is made once.
pub struct Once<T>(OnceBox<T>);

impl<T> Once<T> {
    /// A place for a value.
    pub const fn new() -> Once<T> {
        Once(OnceBox::new())
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Puts `value` in, or gives it back where there is one.
    pub fn set(&self, value: T) -> Result<(), T> {
        self.0.set(Box::new(value)).map_err(|value| *value)
    }

    /// The value, which `make` makes if there is none.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(|| Box::new(make()))
    }

    /// The value, which `make` makes if there is none and it can.
    pub fn get_or_try_init(&self, make: impl FnOnce() -> PyResult<T>) -> PyResult<&T> {
        self.0.get_or_try_init(|| Ok(Box::new(make()?)))
    }
}

/// A string that Python compares by its address.
pub struct Name {
    text: &'static str,
    object: Once<Py<PyString>>,
}

impl Name {
    /// The string `text`.
    pub const fn new(text: &'static str) -> Name {
        Name { text, object: Once::new() }
    }

    /// The object.
    pub fn get<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        self.object.get_or_init(|| PyString::intern(py, self.text).unbind()).bind(py)
    }
}

/// The interned string of a text that stands in the source.
macro_rules! intern {
    ($py:expr, $text:expr) => {{
        static NAME: $crate::once::Name = $crate::once::Name::new($text);
        NAME.get($py)
    }};
}
pub(crate) use intern;
