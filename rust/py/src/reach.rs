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
    /// Arguments of code objects: whether these are traced is of interest.
    asked: Vec<(Py<PyAny>, Py<PyString>)>,
    /// The classes of traced arrays.
    traced: (Py<PyAny>, Py<PyAny>),
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
    /// Which of the arguments that are asked for were traced.
    found: Vec<usize>,
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
    fn new(
        quiet: Vec<String>,
        inheriting: Vec<String>,
        asked: Vec<(Py<PyAny>, Py<PyString>)>,
        traced: (Py<PyAny>, Py<PyAny>),
    ) -> Reach {
        Reach { quiet, inheriting, asked, traced, state: Mutex::default() }
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
                self.note_asked(frame, &code)?;
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

    /// Which of the arguments that are asked for were traced, by their numbers.
    fn take_asked(&self) -> Vec<usize> {
        std::mem::take(&mut self.state().found)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.asked.iter().try_for_each(|(code, _)| visit.call(code))?;
        visit.call(&self.traced.0)?;
        visit.call(&self.traced.1)?;
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

    /// Notes which arguments that are asked for are traced, of a frame that is entered.
    fn note_asked(&self, frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = frame.py();
        for (at, (own, name)) in self.asked.iter().enumerate() {
            if !code.is(own) {
                continue;
            }
            let Ok(value) = frame.getattr("f_locals")?.get_item(name) else { continue };
            let kind = value.get_type();
            if kind.is(self.traced.0.bind(py)) || kind.is(self.traced.1.bind(py)) {
                self.state().found.push(at);
            }
        }
        Ok(())
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
