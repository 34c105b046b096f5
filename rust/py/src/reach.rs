//! The code that a call enters, and the functions of C that it calls.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::types::{PyString, PyTuple};
use pyo3::{ffi, prelude::*};
use rustc_hash::FxHashMap;

use crate::once::Once;

/// Events of CPython's profilers: a frame is entered, a frame is left, a function of C is called.
const CALL: c_int = 0;
const RETURN: c_int = 3;
const C_CALL: c_int = 4;

/// The files whose code is not of interest, for all runs of a process.
#[pyclass(frozen, module = "frazil._core")]
pub struct ReachedFiles {
    /// Files that begin so are not of interest, nor what they call, up to other files.
    quiet: Vec<String>,
    /// Files that begin so are of interest where what calls them is.
    inheriting: Vec<String>,
    /// Code objects of quiet files that were met, by their addresses: as many as the files have.
    known: Mutex<FxHashMap<usize, Py<PyAny>>>,
}

#[pymethods]
impl ReachedFiles {
    #[new]
    fn new(quiet: Vec<String>, inheriting: Vec<String>) -> ReachedFiles {
        ReachedFiles { quiet, inheriting, known: Mutex::default() }
    }
}

impl ReachedFiles {
    fn known(&self) -> MutexGuard<'_, FxHashMap<usize, Py<PyAny>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kind(&self, code: &Bound<'_, PyAny>) -> PyResult<Kind> {
        let file = code.getattr("co_filename")?.cast_into::<PyString>()?;
        let file = file.to_str()?;
        let begins = |all: &[String]| all.iter().any(|own| file.starts_with(own.as_str()));
        if begins(&self.quiet) {
            let met = code.clone().unbind();
            self.known().insert(code.as_ptr() as usize, met);
            return Ok(Kind::Quiet);
        }
        Ok(if begins(&self.inheriting) { Kind::Inheriting } else { Kind::Loud })
    }
}

/// Notes the events that CPython tells a profile function of a thread.
///
/// That is a function of C, as `PyEval_SetProfile` takes it: for one of Python's, CPython copies
/// the variables of the frame before each call, and writes them back after it.
#[pyclass(frozen, module = "frazil._core")]
pub struct Reach {
    files: Py<ReachedFiles>,
    /// Arguments of code objects: whether these are traced is of interest.
    asked: Vec<(Py<PyAny>, Py<PyString>)>,
    /// The classes of traced arrays.
    traced: (Py<PyAny>, Py<PyAny>),
    state: Mutex<ReachState>,
}

#[derive(Default)]
struct ReachState {
    /// By the address of each code object that was met, which `codes` keeps alive.
    kinds: FxHashMap<usize, Kind>,
    /// The number of times that frames of these were entered; frames of generators count at each step.
    entries: FxHashMap<usize, usize>,
    codes: Vec<Py<PyAny>>,
    /// The kind of each frame, outermost first.
    frames: Vec<Frame>,
    /// Whether a handler of a signal ran.
    interrupted: bool,
    /// Code objects with their globals, and functions of C.
    noted: Vec<(Py<PyAny>, Option<Py<PyAny>>)>,
    /// The arguments, of those that are asked for, that were traced.
    found: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Frame {
    /// Not of interest.
    Quiet,
    /// The code that it enters and calls is of interest.
    Loud,
    /// A handler of a signal, or what that calls: it runs between two instructions of whatever code.
    Interrupting,
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
        files: Py<ReachedFiles>,
        asked: Vec<(Py<PyAny>, Py<PyString>)>,
        traced: (Py<PyAny>, Py<PyAny>),
    ) -> Reach {
        Reach { files, asked, traced, state: Mutex::default() }
    }

    /// Begins to note this thread's events.
    fn start(own: &Bound<'_, Self>) -> PyResult<()> {
        let set_profile = set_profile(own.py())?;
        // SAFETY: attached to the interpreter; CPython keeps the object as long as it calls
        // `on_event` with it. Test: tests/jit/test_captures.py.
        unsafe { set_profile(Some(on_event), own.as_ptr()) };
        Ok(())
    }

    /// Notes no more of this thread's events.
    fn stop(own: &Bound<'_, Self>) -> PyResult<()> {
        let set_profile = set_profile(own.py())?;
        // SAFETY: attached to the interpreter; no function and no object are allowed. Test: as above.
        unsafe { set_profile(None, std::ptr::null_mut()) };
        Ok(())
    }

    /// The notes: code objects with their globals, and functions of C.
    #[allow(clippy::type_complexity)]
    fn take(&self) -> Vec<(Py<PyAny>, Option<Py<PyAny>>)> {
        std::mem::take(&mut self.state().noted)
    }

    /// The numbers of the arguments, of those that are asked for, that were traced.
    fn take_asked(&self) -> Vec<usize> {
        std::mem::take(&mut self.state().found)
    }

    /// The number of times that frames of a code object were entered; frames of generators count at each step.
    fn entries(&self, code: &Bound<'_, PyAny>) -> usize {
        self.state().entries.get(&(code.as_ptr() as usize)).copied().unwrap_or(0)
    }

    /// Whether a handler of a signal ran meanwhile; what it entered and called is not noted.
    fn was_interrupted(&self) -> bool {
        self.state().interrupted
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

/// A function that CPython calls at each event of a thread.
type Profile = unsafe extern "C" fn(
    *mut ffi::PyObject,
    *mut ffi::PyFrameObject,
    c_int,
    *mut ffi::PyObject,
) -> c_int;
type SetProfile = unsafe extern "C" fn(Option<Profile>, *mut ffi::PyObject);

/// CPython's `PyEval_SetProfile`, looked up in the interpreter as it is no part of the stable ABI.
fn set_profile(py: Python<'_>) -> PyResult<SetProfile> {
    static FOUND: Once<SetProfile> = Once::new();
    FOUND
        .get_or_try_init(|| {
            let ctypes = py.import("ctypes")?;
            let function = ctypes.getattr("pythonapi")?.getattr("PyEval_SetProfile")?;
            let address = ctypes.call_method1("cast", (function, ctypes.getattr("c_void_p")?))?;
            let address: usize = address.getattr("value")?.extract()?;
            // SAFETY: the address of the function of this name, never null, which is declared so
            // in all releases of CPython. Test: tests/jit/test_captures.py.
            Ok(unsafe { std::mem::transmute::<usize, SetProfile>(address) })
        })
        .copied()
}

/// CPython calls it at each event of a thread, with the object that `PyEval_SetProfile` was given.
unsafe extern "C" fn on_event(
    reach: *mut ffi::PyObject,
    frame: *mut ffi::PyFrameObject,
    event: c_int,
    argument: *mut ffi::PyObject,
) -> c_int {
    if !matches!(event, CALL | RETURN | C_CALL) {
        return 0;
    }
    // SAFETY: CPython calls it in a thread that is attached, with objects that it keeps alive
    // meanwhile: `reach` is any object, `frame` is a frame, and `argument` is the function that is
    // called where the event is `C_CALL`; it is not read at others. Test: tests/jit/test_captures.py.
    let done = unsafe {
        let py = Python::assume_attached();
        let told = || -> PyResult<()> {
            let reach = Borrowed::from_ptr(py, reach).cast::<Reach>()?;
            match event {
                CALL => reach.get().enter(
                    &Borrowed::from_ptr(py, frame.cast::<ffi::PyObject>()),
                    &Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(frame).cast()),
                )?,
                RETURN => reach.get().leave(),
                _ => reach.get().call(&Borrowed::from_ptr(py, argument)),
            }
            Ok(())
        };
        told().map_err(|error| error.restore(py))
    };
    if done.is_ok() { 0 } else { -1 }
}

impl Reach {
    /// Notes a frame that is entered.
    fn enter(&self, frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<()> {
        let address = code.as_ptr() as usize;
        let (known, within) = self.met(address);
        if within == Frame::Interrupting || (known.is_none() && is_handler(frame, code)?) {
            let mut state = self.state();
            state.frames.push(Frame::Interrupting);
            state.interrupted = true;
            return Ok(());
        }
        self.note_asked(frame, code)?;
        let kind = match known {
            Some(kind) => kind,
            None => self.files.get().kind(code)?,
        };
        let own = match kind {
            Kind::Quiet => Frame::Quiet,
            Kind::Inheriting => within,
            Kind::Loud => Frame::Loud,
        };
        let new = known.is_none() || matches!(kind, Kind::Inheriting);
        let noted = match own == Frame::Loud && new {
            true => Some((code.clone().unbind(), Some(frame.getattr("f_globals")?.unbind()))),
            false => None,
        };
        let mut state = self.state();
        state.frames.push(own);
        if known.is_none() {
            state.kinds.insert(address, kind);
            state.codes.push(code.clone().unbind());
        }
        state.noted.extend(noted);
        Ok(())
    }

    /// Notes that a frame is left.
    fn leave(&self) {
        self.state().frames.pop();
    }

    /// Notes a function of C that is called.
    fn call(&self, function: &Bound<'_, PyAny>) {
        let mut state = self.state();
        if state.frames.last() == Some(&Frame::Loud) {
            state.noted.push((function.clone().unbind(), None));
        }
    }

    fn state(&self) -> MutexGuard<'_, ReachState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The facts about a code object that is entered, and the frame that enters it.
    fn met(&self, address: usize) -> (Option<Kind>, Frame) {
        let mut state = self.state();
        *state.entries.entry(address).or_default() += 1;
        let within = state.frames.last().copied().unwrap_or(Frame::Quiet);
        let known = state.kinds.get(&address).copied();
        drop(state);
        let quiet = || self.files.get().known().contains_key(&address).then_some(Kind::Quiet);
        (known.or_else(quiet), within)
    }

    /// Notes for a frame that is entered: of the arguments asked for, those that are traced.
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
}

/// Whether others hold the object of a caller's frame than the interpreter, whose frame it is, and the one reference here.
///
/// It saves the look at the callee's variables, which up to CPython 3.12 keeps them alive for as long as the frame. A
/// handler gets the frame as an argument, and CPython calls it with a tuple of these, so at least that holds the frame. In a
/// release where nothing did, handlers would be taken for code that the traced function calls: it would run as plain
/// Python, and tests/jit/test_interruptions.py would fail.
fn is_held_by_others(frame: &Bound<'_, PyAny>) -> bool {
    // SAFETY: attached to the interpreter, with an object that is held. Test:
    // tests/jit/test_interruptions.py.
    unsafe { ffi::Py_REFCNT(frame.as_ptr()) >= 3 }
}

/// Whether the interpreter has entered a frame to handle a signal.
///
/// The interpreter passes the interrupted frame. Code can get a frame only from functions that are
/// noted when it calls them.
fn is_handler(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<bool> {
    const VARIABLE_ARGUMENTS: u32 = 4;
    let named: usize = code.getattr("co_argcount")?.extract()?;
    let variable = code.getattr("co_flags")?.extract::<u32>()? & VARIABLE_ARGUMENTS != 0;
    if named == 0 && !variable {
        return Ok(false);
    }
    let caller = frame.getattr("f_back")?;
    if caller.is_none() || !is_held_by_others(&caller) {
        return Ok(false);
    }
    let values = frame.getattr("f_locals")?;
    let names = code.getattr("co_varnames")?.cast_into::<PyTuple>()?;
    let keywords: usize = code.getattr("co_kwonlyargcount")?.extract()?;
    for name in names.iter().take(named) {
        if values.get_item(name).is_ok_and(|value| value.is(&caller)) {
            return Ok(true);
        }
    }
    if !variable {
        return Ok(false);
    }
    let Ok(rest) = values.get_item(names.get_item(named + keywords)?) else { return Ok(false) };
    Ok(rest.cast::<PyTuple>().is_ok_and(|rest| rest.iter().any(|value| value.is(&caller))))
}
