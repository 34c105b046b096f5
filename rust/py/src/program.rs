//! `Program`: its text, its bytes, and the exceptions of its calls.

use std::sync::Arc;
use std::time::Duration;

use frazil_core::DType;
use frazil_runtime::{
    Error, Fault, Foreign, ForeignError, KeptArray, KernelFn, KernelPart, KernelRef, Layout,
    Library, Origin, Parts, Subject,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::callable::Callable;
use crate::error::exception;
use crate::ndarray::{NumPy, keep};
use crate::once::Once;
use crate::owned::{Owned, Raised};

/// A compiled program, shared by the functions that call it.
#[pyclass(frozen, weakref, module = "frazil._core")]
pub struct Program {
    pub(crate) program: Arc<frazil_runtime::Program>,
    /// The origins of instructions: a sequence, by [`Origin`].
    pub(crate) origins: Py<PyAny>,
    /// The Python functions that are called, in order.
    pub(crate) functions: Vec<Py<PyAny>>,
    /// The programs that it runs, so that whoever remembers them finds them as long as they are
    /// used; none where it was read.
    pub(crate) _nested: Vec<Py<Program>>,
}

#[pymethods]
impl Program {
    /// Text form, one line an instruction.
    #[getter]
    fn instructions(&self) -> Vec<String> {
        self.program.lines()
    }

    /// Text form of all but the instructions: definitions, results, and the programs that it runs.
    #[getter]
    fn surroundings(&self) -> (Vec<String>, String, Vec<String>) {
        (self.program.definitions(), self.program.results(), self.program.nested_lines())
    }

    /// The routines of `set_routines` that calls need.
    #[getter]
    fn library(&self) -> Option<&'static str> {
        self.program.library().map(|library| match library {
            Library::Blas => "blas",
            Library::Lapack => "lapack",
        })
    }

    /// Whether calls draw random numbers, by what `set_sampler` and `set_bit_generator` give.
    #[getter]
    fn draws(&self) -> bool {
        self.program.draws()
    }

    /// Whether calls sort elements, which they may do by what `set_sorter` gives.
    #[getter]
    fn sorts(&self) -> bool {
        self.program.sorts()
    }

    /// The number of calls that evaluated all sizes, and of calls that found them evaluated.
    #[getter]
    fn bindings(&self) -> (u64, u64) {
        let bindings = self.program.bindings();
        (bindings.made, bindings.found)
    }

    /// Lets the function that `set_heat_handler` has got be called once, with the program, when
    /// calls have taken so many seconds from now on.
    fn await_heat(&self, seconds: f64) -> PyResult<()> {
        let time = Duration::try_from_secs_f64(seconds);
        self.program.await_time(time.map_err(|error| PyValueError::new_err(error.to_string()))?);
        Ok(())
    }

    /// The origins of instructions.
    #[getter]
    fn origins(&self, py: Python<'_>) -> Py<PyAny> {
        self.origins.clone_ref(py)
    }

    /// The Python functions that the program calls, in the order of the calls; then those of the
    /// programs that it runs.
    #[getter]
    fn functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.functions)
    }

    /// For each kernel, the object that keeps it loaded, and its operands.
    #[getter]
    fn kernels<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyBytes>)>> {
        let kernels = self.program.kernels();
        let kept = |kernel: KernelRef<'_>| {
            let keep = kernel.keep.downcast_ref::<Owned<PyAny>>().ok_or_else(|| {
                PyTypeError::new_err("a kernel of the program is kept by no Python object")
            })?;
            Ok((keep.bind(py).clone(), PyBytes::new(py, &kernel.operands)))
        };
        kernels.into_iter().map(kept).collect()
    }

    /// The program as bytes: without origins, functions and kernels, which are named by number.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.program.to_bytes())
    }

    /// The program that `bytes` were made of, with these parts.
    ///
    /// Each kernel is an address, the owner that keeps it loaded, and its operands, as `kernels`
    /// gave it; the address must be that of a loop kernel for these operands.
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        bytes: &[u8],
        kernels: Vec<(usize, Py<PyAny>, Vec<u8>)>,
        functions: Vec<Py<PyAny>>,
        origins: Py<PyAny>,
    ) -> PyResult<Program> {
        let kernels = kernels.into_iter().map(|(address, keep, operands)| {
            // SAFETY: by the caller's promise. Test: tests/runtime/test_program_bytes.py.
            Ok((unsafe { kernel_at(address)? }, keep, operands))
        });
        let kernels: Vec<GivenKernel> = kernels.collect::<PyResult<_>>()?;
        let mut parts = GivenParts { py, kernels: &kernels, functions: &functions };
        // SAFETY: by the caller's promise, the addresses are addresses of kernels for these operands.
        // Test: tests/runtime/test_program_bytes.py.
        let program = unsafe { frazil_runtime::Program::from_bytes(bytes, &mut parts) };
        let program = program.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Program { program: Arc::new(program), origins, functions, _nested: Vec::new() })
    }
}

/// The handler that is called with programs whose calls have taken long enough.
static HEAT_HANDLER: Once<Py<PyAny>> = Once::new();

/// Lets `handler` be called with each program whose calls have taken the time that it awaits. It is
/// set once in a process.
#[pyfunction]
pub fn set_heat_handler(handler: Py<PyAny>) -> PyResult<()> {
    HEAT_HANDLER
        .set(handler)
        .map_err(|_| PyRuntimeError::new_err("there is a handler of hot programs already"))
}

/// Tells the handler of a program. What fails there is told by `sys.unraisablehook`: the call that
/// brought the program here has its results.
#[cold]
pub fn tell_hot(program: &Bound<'_, Program>) {
    let py = program.py();
    if let Some(handler) = HEAT_HANDLER.get()
        && let Err(error) = handler.call1(py, (program,))
    {
        error.write_unraisable(py, Some(program.as_any()));
    }
}

/// A kernel, the object that keeps it loaded, and its operands.
type GivenKernel = (KernelFn, Py<PyAny>, Vec<u8>);

/// The parts of a program that is read, as Python gave them.
struct GivenParts<'a, 'py> {
    py: Python<'py>,
    kernels: &'a [GivenKernel],
    functions: &'a [Py<PyAny>],
}

impl Parts for GivenParts<'_, '_> {
    fn constant(
        &mut self,
        dtype: DType,
        layout: &Layout,
        elements: &[u8],
    ) -> Result<KeptArray, ForeignError> {
        let numpy = NumPy::get(self.py);
        let array = numpy.empty(self.py, dtype, &layout.dims, &layout.strides);
        let array = array.map_err(Raised::from)?;
        // SAFETY: the array is fresh, and the runtime gives the elements that fill it.
        // Test: tests/runtime/test_program_bytes.py.
        unsafe {
            let to = numpy.data(&array);
            std::ptr::copy_nonoverlapping(elements.as_ptr(), to, elements.len());
        }
        keep(array).ok_or_else(|| "NumPy gave an array that is not aligned".into())
    }

    fn kernel(&mut self, number: usize) -> Option<KernelPart> {
        let (function, keepalive, operands) = self.kernels.get(number)?;
        let keep = Box::new(Owned::from(keepalive.clone_ref(self.py)));
        Some(KernelPart { function: *function, keep, operands: operands.as_slice().into() })
    }

    fn function(&mut self, number: usize, results: usize) -> Option<Arc<dyn Foreign>> {
        let function = self.functions.get(number)?;
        Some(Arc::new(Callable::new(function.clone_ref(self.py), results)))
    }
}

impl Program {
    /// The program.
    pub fn runtime(&self) -> &frazil_runtime::Program {
        &self.program
    }

    /// The origin of an instruction.
    pub fn blamed(&self, py: Python<'_>, origin: Origin) -> Option<Py<PyAny>> {
        self.origins.bind(py).get_item(origin.index()).ok().map(Bound::unbind)
    }

    /// The exception for a failed call. `name` gives the name of an input of the program.
    pub fn raise(
        &self,
        py: Python<'_>,
        error: Error,
        name: impl Fn(usize) -> Option<String>,
    ) -> PyErr {
        // An origin that cannot be told does not hide the error.
        let told = |origin: Origin| self.origins.bind(py).get_item(origin.index())?.str();
        let origin = error.origin.and_then(|origin| told(origin).ok());
        let note = origin.map(|origin: Bound<'_, PyString>| format!("in: {origin}"));
        let mut message = error.to_string();
        if let Some(subject) = error.fault.subject() {
            let name = match subject {
                Subject::Input(input) => name(input),
                Subject::State(state) => self.name_of(py, error.origin, "state", state),
                Subject::Sequence(number) => self.name_of(py, error.origin, "sequence", number),
            };
            if let Some(name) = name {
                let subject = subject.to_string();
                message = message.replacen(&subject, &format!("{subject} ({name:?})"), 1);
            }
        }
        let class = error.class();
        let steps = error.fault.steps();
        if let Fault::Foreign(foreign) = error.fault.innermost() {
            return match foreign.downcast::<Raised>() {
                Ok(raised) => {
                    let raised = raised.into_exception();
                    let steps = steps.iter().map(|step| format!("in step {step}"));
                    for note in steps.chain(note) {
                        // An exception class may refuse notes; the exception itself matters more.
                        let _ = raised.value(py).call_method1("add_note", (note,));
                    }
                    raised
                }
                Err(other) => PyRuntimeError::new_err(other.to_string()),
            };
        }
        if let Some(note) = note {
            message.push_str("\n  ");
            message.push_str(&note);
        }
        exception(class, message)
    }

    /// The name that the origin gives to a part of it.
    fn name_of(
        &self,
        py: Python<'_>,
        origin: Option<Origin>,
        kind: &str,
        number: usize,
    ) -> Option<String> {
        let blamed = self.blamed(py, origin?)?;
        blamed.call_method1(py, "name_of", (kind, number)).ok()?.extract(py).ok()?
    }
}

/// The kernel at an address.
///
/// # Safety
/// Unless it is null, the address is that of a kernel.
pub(crate) unsafe fn kernel_at(address: usize) -> PyResult<KernelFn> {
    if address == 0 {
        return Err(PyValueError::new_err("the kernel has no address"));
    }
    // SAFETY: by the caller's promise; the address is not null.
    // Test: tests/runtime/test_program_bytes.py.
    Ok(unsafe { std::mem::transmute::<usize, KernelFn>(address) })
}
