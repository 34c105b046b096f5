//! Traced arrays: variables that stand for arrays while a Python function is traced.
//!
//! Python code computes with them by operators and NumPy's functions. An elementwise operation makes a node at once.
//! All others call the Python function that [`set_traced`] was given.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use frazil_core::Var;
use frazil_core::WeakScalar;
use frazil_core::node::measured::{self, Measured, MeasuredOperand, MeasuredOperands};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};
use smallvec::SmallVec;

use crate::container::current;
use crate::error::raise;
use crate::object_table::{ObjectResult, wrapper};
use crate::once::{Once, intern};
use crate::op::OpBase;
use crate::operand::constant;
use crate::source_line::here;
use crate::variable::{Variable, drop_node};

thread_local! {
    /// The address of the trace that runs in this thread, which Python keeps alive; 0 if there is none.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Says which trace runs in this thread: compiled functions join in, and its arrays make nodes.
#[pyfunction]
#[pyo3(signature = (trace))]
pub fn set_trace(trace: Option<&Bound<'_, PyAny>>) {
    CURRENT.set(trace.map_or(0, |trace| trace.as_ptr() as usize));
}

/// Whether a Python function is being traced in this thread.
pub fn is_tracing() -> bool {
    CURRENT.get() != 0
}

/// Classes and functions of Python for traced arrays.
struct Setting {
    /// The class of those that results are.
    array: Py<PyType>,
    /// Applies all other functions: `apply(function, args, kwargs, method, is_operator=...)`.
    apply: Py<PyAny>,
    /// The op that a ufunc applies; None if it does other things.
    op_of: Py<PyAny>,
    /// Answers of `op_of`, by ufunc.
    ops: Py<PyDict>,
    /// By the name of an operator, as in `operator`.
    ufuncs: Py<PyDict>,
    /// The class of NumPy's numbers.
    number: Py<PyType>,
    /// The class of NumPy's arrays.
    plain: Py<PyType>,
}

static SETTING: Once<Setting> = Once::new();

/// Sets the class of traced arrays and the functions that compute with them; once in a process.
#[pyfunction]
pub fn set_traced(
    py: Python<'_>,
    array: Py<PyType>,
    apply: Py<PyAny>,
    op_of: Py<PyAny>,
    ufuncs: Py<PyDict>,
) -> PyResult<()> {
    let numpy = py.import("numpy")?;
    let number = numpy.getattr("generic")?.cast_into::<PyType>()?.unbind();
    let plain = numpy.getattr("ndarray")?.cast_into::<PyType>()?.unbind();
    let ops = PyDict::new(py).unbind();
    let _ = SETTING.set(Setting { array, apply, op_of, ops, ufuncs, number, plain });
    Ok(())
}

fn setting(_: Python<'_>) -> PyResult<&'static Setting> {
    SETTING.get().ok_or_else(|| PyRuntimeError::new_err("frazil.jit was not imported"))
}

/// The base of traced arrays: a variable of a trace, with operators.
#[pyclass(frozen, subclass, weakref, module = "frazil._core")]
pub struct Traced {
    /// Nothing only between birth and the first use.
    state: Mutex<Option<TracedState>>,
}

struct TracedState {
    trace: Py<PyAny>,
    measured: Measured,
    shared: bool,
}

impl Drop for Traced {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(TracedState { trace, measured, .. }) = state else { return };
        Python::attach(|py| {
            drop(trace);
            drop_node(py, measured.var.into_node());
        });
    }
}

#[pymethods]
impl Traced {
    #[new]
    #[pyo3(signature = (trace=None, variable=None, shared=false))]
    fn new(
        trace: Option<&Bound<'_, PyAny>>,
        variable: Option<&Bound<'_, Variable>>,
        shared: bool,
    ) -> PyResult<Traced> {
        let (Some(trace), Some(variable)) = (trace, variable) else {
            return Ok(Traced { state: Mutex::default() });
        };
        let var = variable.get().var().clone();
        let measured = Measured { lengths: lengths_of(trace, &var)?, var };
        let state = TracedState { trace: trace.clone().unbind(), measured, shared };
        Ok(Traced { state: Mutex::new(Some(state)) })
    }

    #[getter]
    fn _trace(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.read(|state| state.trace.clone_ref(py))
    }

    #[getter]
    fn _variable<'py>(&self, py: Python<'py>) -> ObjectResult<'py> {
        wrapper(py, self.read(|state| state.measured.var.clone())?)
    }

    /// Whether a change in place would be seen elsewhere.
    #[getter]
    fn _shared(&self) -> PyResult<bool> {
        self.read(|state| state.shared)
    }

    #[setter(_shared)]
    fn set_shared(&self, shared: bool) -> PyResult<()> {
        self.write(|state| state.shared = shared)
    }

    /// Stands for `variable` from now on, which has the lengths of `like`.
    fn _become(&self, variable: &Bound<'_, Variable>, like: &Bound<'_, Traced>) -> PyResult<()> {
        let lengths = like.get().read(|state| state.measured.lengths.clone())?;
        let measured = Measured { var: variable.get().var().clone(), lengths };
        let before = self.write(|state| std::mem::replace(&mut state.measured, measured))?;
        drop_node(variable.py(), before.var.into_node());
        Ok(())
    }

    #[pyo3(signature = (ufunc, method, *inputs, **kwargs))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        ufunc: &Bound<'py, PyAny>,
        method: &Bound<'py, PyString>,
        inputs: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> ObjectResult<'py> {
        let py = slf.py();
        let setting = setting(py)?;
        if kwargs.is_none_or(|kwargs| kwargs.is_empty()) && method == "__call__" {
            let operands: SmallVec<[Bound<'_, PyAny>; 3]> = inputs.iter().collect();
            if let Some(made) = computed(setting, ufunc, &operands)? {
                return Ok(made);
            }
        }
        slf.get().read(|_| ())?;
        let kwargs = kwargs.cloned().unwrap_or_else(|| PyDict::new(py));
        setting.apply.bind(py).call1((ufunc, inputs, kwargs, method))
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "add"), slf, other)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "add"), other, slf)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "sub"), slf, other)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "sub"), other, slf)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "mul"), slf, other)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "mul"), other, slf)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "truediv"), slf, other)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "truediv"), other, slf)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "floordiv"), slf, other)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "floordiv"), other, slf)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "mod"), slf, other)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "mod"), other, slf)
    }

    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> ObjectResult<'py> {
        refuse_modulo(modulo)?;
        binary(intern!(slf.py(), "pow"), slf, other)
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> ObjectResult<'py> {
        refuse_modulo(modulo)?;
        binary(intern!(slf.py(), "pow"), other, slf)
    }

    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "matmul"), slf, other)
    }

    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "matmul"), other, slf)
    }

    fn __divmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "divmod"), slf, other)
    }

    fn __rdivmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "divmod"), other, slf)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "and"), slf, other)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "and"), other, slf)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "or"), slf, other)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "or"), other, slf)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "xor"), slf, other)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(intern!(slf.py(), "xor"), other, slf)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        unary(intern!(slf.py(), "neg"), slf)
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        unary(intern!(slf.py(), "pos"), slf)
    }

    fn __abs__<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        unary(intern!(slf.py(), "abs"), slf)
    }

    fn __invert__<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        unary(intern!(slf.py(), "invert"), slf)
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        comparison: CompareOp,
    ) -> ObjectResult<'py> {
        let py = slf.py();
        let name = match comparison {
            CompareOp::Lt => intern!(py, "lt"),
            CompareOp::Le => intern!(py, "le"),
            CompareOp::Eq => intern!(py, "eq"),
            CompareOp::Ne => intern!(py, "ne"),
            CompareOp::Gt => intern!(py, "gt"),
            CompareOp::Ge => intern!(py, "ge"),
        };
        binary(name, slf, other)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.state.try_lock().as_deref() {
            Ok(Some(state)) => visit.call(&state.trace),
            _ => Ok(()),
        }
    }
}

impl Traced {
    fn state(&self) -> MutexGuard<'_, Option<TracedState>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, body: impl FnOnce(&TracedState) -> T) -> PyResult<T> {
        self.state().as_ref().map(body).ok_or_else(empty)
    }

    fn write<T>(&self, body: impl FnOnce(&mut TracedState) -> T) -> PyResult<T> {
        self.state().as_mut().map(body).ok_or_else(empty)
    }

    /// The variable with its lengths, if it is of the trace at `address`; they may have been found since it was made.
    fn measured(&self, py: Python<'_>, address: usize) -> PyResult<Option<Measured>> {
        let found = self.read(|state| {
            (state.trace.as_ptr() as usize == address)
                .then(|| (state.measured.clone(), state.trace.clone_ref(py)))
        })?;
        let Some((mut measured, trace)) = found else { return Ok(None) };
        if measured.lengths.is_none() && measured.var.ty().ndim() > 0 {
            let lengths = lengths_of(trace.bind(py), &measured.var)?;
            if lengths.is_some() {
                measured.lengths = lengths.clone();
                self.write(|state| state.measured.lengths = lengths)?;
            }
        }
        Ok(Some(measured))
    }
}

fn empty() -> PyErr {
    PyTypeError::new_err("a traced array is made of a trace and a variable")
}

fn refuse_modulo(modulo: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match modulo {
        Some(modulo) if !modulo.is_none() => {
            Err(PyTypeError::new_err("pow() with a modulus is not defined for arrays"))
        }
        _ => Ok(()),
    }
}

/// The lengths of a variable in a trace, as far as it knows them.
fn lengths_of(trace: &Bound<'_, PyAny>, var: &Var) -> PyResult<Option<Arc<[u64]>>> {
    if var.ty().ndim() == 0 {
        return Ok(None);
    }
    let py = trace.py();
    let known = trace.getattr(intern!(py, "shapes_now"))?.cast_into::<PyDict>()?;
    match known.get_item(wrapper(py, var.clone())?)? {
        Some(lengths) if !lengths.is_none() => Ok(Some(lengths.extract::<Vec<u64>>()?.into())),
        _ => Ok(None),
    }
}

fn unary<'py>(name: &Bound<'py, PyString>, operand: &Bound<'py, PyAny>) -> ObjectResult<'py> {
    operator(name, SmallVec::from_elem(operand.clone(), 1))
}

fn binary<'py>(
    name: &Bound<'py, PyString>,
    one: &Bound<'py, PyAny>,
    other: &Bound<'py, PyAny>,
) -> ObjectResult<'py> {
    operator(name, SmallVec::from_iter([one.clone(), other.clone()]))
}

/// The result of an operator of Python's.
fn operator<'py>(
    name: &Bound<'py, PyString>,
    operands: SmallVec<[Bound<'py, PyAny>; 3]>,
) -> ObjectResult<'py> {
    let py = name.py();
    let setting = setting(py)?;
    let ufunc = setting.ufuncs.bind(py).as_any().get_item(name)?;
    if let Some(made) = computed(setting, &ufunc, &operands)? {
        return Ok(made);
    }
    for operand in &operands {
        if let Ok(traced) = operand.cast::<Traced>() {
            traced.get().read(|_| ())?;
        }
    }
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "is_operator"), true)?;
    let args = PyTuple::new(py, operands)?;
    setting.apply.bind(py).call((ufunc, args, PyDict::new(py)), Some(&keywords))
}

/// The result of an elementwise function for arrays of the current trace and numbers; nothing for other functions and
/// operands, and where lengths are not known.
fn computed<'py>(
    setting: &Setting,
    ufunc: &Bound<'py, PyAny>,
    operands: &[Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = ufunc.py();
    let address = CURRENT.get();
    if address == 0 {
        return Ok(None);
    }
    let mut trace = None;
    for value in operands {
        if let Ok(traced) = value.cast::<Traced>() {
            trace = Some(traced.get()._trace(py)?);
            break;
        }
    }
    let (Some(trace), Some(op)) = (trace, op_of(setting, ufunc)?) else { return Ok(None) };
    let mut given = MeasuredOperands::new();
    for value in operands {
        let Some(operand) = operand(setting, trace.bind(py), value, address)? else {
            return Ok(None);
        };
        // If an op takes no complex numbers, Python goes on without a trace.
        if matches!(&operand, MeasuredOperand::Var(own) if own.var.ty().is_complex()) {
            return Ok(None);
        }
        given.push(operand);
    }
    let op = op.get().op()?.elementwise();
    let made = measured::apply(&*current(py)?, op, given, here(py)?).map_err(raise)?;
    let Some(measured) = made else { return Ok(None) };
    let traced = setting.array.bind(py).call0()?.cast_into::<Traced>()?;
    *traced.get().state() = Some(TracedState { trace, measured, shared: false });
    Ok(Some(traced.into_any()))
}

fn operand(
    setting: &Setting,
    trace: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    address: usize,
) -> PyResult<Option<MeasuredOperand>> {
    let py = value.py();
    let kind = value.get_type();
    if kind.is(setting.array.bind(py)) {
        let measured = value.cast::<Traced>()?.get().measured(py, address)?;
        return Ok(measured.map(MeasuredOperand::Var));
    }
    if let Ok(float) = value.cast_exact::<PyFloat>() {
        return Ok(Some(MeasuredOperand::Weak(WeakScalar::Float(float.extract()?))));
    }
    if let Ok(flag) = value.cast_exact::<PyBool>() {
        return Ok(Some(MeasuredOperand::Weak(WeakScalar::Bool(flag.is_true()))));
    }
    if let Ok(integer) = value.cast_exact::<PyInt>() {
        let small = integer.extract::<i64>().ok();
        return Ok(small.map(|own| MeasuredOperand::Weak(WeakScalar::Int(own.into()))));
    }
    if kind.is(setting.plain.bind(py)) && trace.as_ptr() as usize == address {
        // A captured array, or one that the function has made; that is a constant.
        let lifted = trace.call_method1(intern!(py, "lift"), (value,))?;
        let Ok(variable) = lifted.cast::<Variable>() else { return Ok(None) };
        let var = variable.get().var().clone();
        let measured = Measured { lengths: lengths_of(trace, &var)?, var };
        return Ok(Some(MeasuredOperand::Var(measured)));
    }
    if kind.is_subclass(setting.number.bind(py))? {
        let var = constant(value, None)?;
        return Ok(Some(MeasuredOperand::Var(Measured { var, lengths: None })));
    }
    Ok(None)
}

/// The op that a ufunc applies element by element, if it does nothing else.
fn op_of<'py>(
    setting: &Setting,
    ufunc: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, OpBase>>> {
    let py = ufunc.py();
    let known = setting.ops.bind(py);
    let found = match known.get_item(ufunc)? {
        Some(found) => found,
        None => {
            let found = setting.op_of.bind(py).call1((ufunc,))?;
            if !found.is_none() {
                known.set_item(ufunc, &found)?;
            }
            found
        }
    };
    if found.is_none() { Ok(None) } else { Ok(Some(found.cast_into::<OpBase>()?)) }
}
