//! What a call reaches: the code that it enters, and the functions of C that it calls.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Notes what `sys.setprofile` tells it.
///
/// No bytecode runs when CPython calls it, so no other thread does: before such a call CPython
/// copies the variables of the frame, and writes them back after it.
#[pyclass(frozen, module = "frazil._core")]
pub struct Reach {
    /// Files that begin so are not of interest, nor what they call, up to other files.
    quiet: Vec<String>,
    /// Files that begin so are of interest where what calls them is.
    inheriting: Vec<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the address of each code object that was met, which `codes` keeps alive.
    kinds: HashMap<usize, Kind>,
    codes: Vec<Py<PyAny>>,
    /// Whether each frame is of interest, outermost first.
    frames: Vec<bool>,
    /// Code objects with their globals, and functions of C.
    noted: Vec<(Py<PyAny>, Option<Py<PyAny>>)>,
}

#[derive(Clone, Copy)]
enum Kind {
    Quiet,
    Inheriting,
    Loud,
}

#[pymethods]
impl Reach {
    #[new]
    fn new(quiet: Vec<String>, inheriting: Vec<String>) -> Reach {
        Reach { quiet, inheriting, state: Mutex::default() }
    }

    /// Notes the frame that is entered, or the function that is called.
    fn __call__(
        &self,
        frame: &Bound<'_, PyAny>,
        event: &Bound<'_, PyString>,
        argument: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        match event.to_str()? {
            "call" => {
                let code = frame.getattr("f_code")?;
                let address = code.as_ptr() as usize;
                let (known, within) = self.met(address);
                let kind = match known {
                    Some(kind) => kind,
                    None => self.kind(code.getattr("co_filename")?.cast::<PyString>()?.to_str()?),
                };
                let loud = match kind {
                    Kind::Quiet => false,
                    Kind::Inheriting => within,
                    Kind::Loud => true,
                };
                let noted = match loud && (known.is_none() || matches!(kind, Kind::Inheriting)) {
                    true => {
                        Some((code.clone().unbind(), Some(frame.getattr("f_globals")?.unbind())))
                    }
                    false => None,
                };
                let mut state = self.state();
                state.frames.push(loud);
                if known.is_none() {
                    state.kinds.insert(address, kind);
                    state.codes.push(code.unbind());
                }
                state.noted.extend(noted);
            }
            "return" => {
                self.state().frames.pop();
            }
            "c_call" => {
                let mut state = self.state();
                if state.frames.last() == Some(&true) {
                    state.noted.push((argument.clone().unbind(), None));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What was noted: code objects with their globals, and functions of C.
    #[allow(clippy::type_complexity)]
    fn take(&self) -> Vec<(Py<PyAny>, Option<Py<PyAny>>)> {
        std::mem::take(&mut self.state().noted)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Ok(state) = self.state.try_lock() {
            for (object, scope) in &state.noted {
                visit.call(object)?;
                visit.call(scope)?;
            }
        }
        Ok(())
    }
}

impl Reach {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a code object, and whether the frame that enters it is of interest.
    fn met(&self, address: usize) -> (Option<Kind>, bool) {
        let state = self.state();
        (state.kinds.get(&address).copied(), state.frames.last() == Some(&true))
    }

    fn kind(&self, file: &str) -> Kind {
        let begins = |all: &[String]| all.iter().any(|own| file.starts_with(own.as_str()));
        if begins(&self.quiet) {
            Kind::Quiet
        } else if begins(&self.inheriting) {
            Kind::Inheriting
        } else {
            Kind::Loud
        }
    }
}
