//! `Function`: a compiled program ready to be called.

mod arguments;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use frazil_core::{DType, Ty};
use frazil_runtime::{ArrayRef, Conduct, Entry, Error, Run, default_threads, given_threads};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use smallvec::SmallVec;

use crate::c_function::CFunction;
use crate::cell::{Arrays, Replacement, SharedCell, changes_by_this_thread, replace, snapshot};
use crate::donation::separate;
use crate::ndarray::{NumPy, keep};
use crate::object_table::ObjectResult;
use crate::owned::detached;
use crate::program::{Program, tell_hot};
use crate::signals::Signals;
use crate::types::TensorType;
use crate::variable::SharedVariable;

/// A compiled program ready to be called.
#[pyclass(frozen, subclass, module = "frazil._core")]
pub struct Function {
    program: Py<Program>,
    parameters: Box<[Parameter]>,
    shared: Box<[Shared]>,
    updates: Box<[Update]>,
    /// The outputs that a call returns.
    returned: Box<[usize]>,
    form: Returned,
    convert: Py<PyAny>,
    /// `None`: as many as the runtime uses by default.
    threads: Option<NonZeroUsize>,
    /// The outputs that may share memory with arguments that are lent.
    borrowing: Box<[usize]>,
}

struct Parameter {
    /// Taken where a call leaves the argument out.
    default: Option<Py<PyAny>>,
    /// Whether results may share its memory.
    lent: bool,
    name: Option<Py<PyString>>,
    ty: Py<TensorType>,
    dtype: DType,
    ndim: usize,
}

/// A shared variable that is read when a call starts.
struct Shared {
    variable: Py<SharedVariable>,
    cell: Arc<SharedCell>,
    dtype: DType,
    ndim: usize,
}

/// A shared variable that takes an output when a call has succeeded.
struct Update {
    variable: Py<SharedVariable>,
    cell: Arc<SharedCell>,
    ty: Ty,
    output: usize,
    /// Its position among the cells that are read.
    read: Option<usize>,
}

/// The form of a call's results.
enum Returned {
    List,
    Single,
    Dict(Py<PyTuple>),
}

/// A few Python objects.
pub type Objects<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

#[pymethods]
impl Function {
    #[new]
    #[pyo3(signature = (program, inputs, shared, updates, form, convert, threads=None,
                        defaults=None, lent=None, borrowing=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        program: Py<Program>,
        inputs: Vec<(Option<Py<PyString>>, Py<TensorType>)>,
        shared: Vec<Py<SharedVariable>>,
        updates: Vec<(Py<SharedVariable>, usize)>,
        form: &Bound<'_, PyAny>,
        convert: Py<PyAny>,
        threads: Option<NonZeroUsize>,
        defaults: Option<Vec<Option<Py<PyAny>>>>,
        lent: Option<Vec<usize>>,
        borrowing: Option<Vec<usize>>,
    ) -> PyResult<Function> {
        let (lent, borrowing) = (lent.unwrap_or_default(), borrowing.unwrap_or_default());
        let mut defaults = defaults.unwrap_or_default();
        defaults.resize_with(inputs.len(), || None);
        let parameters = inputs.into_iter().zip(defaults).enumerate();
        let parameters = parameters.map(|(at, ((name, ty), default))| {
            let known = &ty.get().0;
            let (dtype, ndim, lent) = (known.dtype(), known.ndim(), lent.contains(&at));
            Parameter { default, lent, name, ty, dtype, ndim }
        });
        let parameters: Box<[Parameter]> = parameters.collect();
        let shared: Box<[Shared]> = shared
            .into_iter()
            .map(|variable| {
                let ty = type_of(py, &variable)?;
                let cell = variable.get().cell().clone();
                Ok(Shared { variable, cell, dtype: ty.dtype(), ndim: ty.ndim() })
            })
            .collect::<PyResult<_>>()?;
        let updates: Box<[Update]> = updates
            .into_iter()
            .map(|(variable, output)| {
                let ty = type_of(py, &variable)?;
                let cell = variable.get().cell().clone();
                let read = shared.iter().position(|read| Arc::ptr_eq(&read.cell, &cell));
                Ok(Update { variable, cell, ty, output, read })
            })
            .collect::<PyResult<_>>()?;
        check(program.get(), &parameters, &shared, &updates)?;
        let outputs = program.get().runtime().outputs().len();
        let stored = |output: &usize| updates.iter().any(|update| update.output == *output);
        let returned: Box<[usize]> = (0..outputs).filter(|output| !stored(output)).collect();
        let form = Returned::new(form, returned.len())?;
        let borrowing = returned.iter().copied().filter(|at| borrowing.contains(at)).collect();
        Ok(Function {
            program,
            parameters,
            shared,
            updates,
            returned,
            form,
            convert,
            threads,
            borrowing,
        })
    }

    /// The threads that a call uses at most.
    #[getter]
    fn threads(&self) -> usize {
        self.threads.map_or_else(default_threads, usize::from)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> ObjectResult<'py> {
        let py = args.py();
        let numpy = NumPy::get(py);
        let objects = self.arguments(args, kwargs)?;
        let mut outputs = self.outputs(py, numpy, objects)?;
        self.present(py, &mut outputs)
    }

    /// The function for callers in C, for arguments with the shapes of these. Shared variables keep
    /// the values that they have now.
    #[pyo3(signature = (*args))]
    fn _c_function(&self, args: &Bound<'_, PyTuple>) -> PyResult<CFunction> {
        let py = args.py();
        let numpy = NumPy::get(py);
        let mut objects = self.arguments(args, None)?;
        self.convert(numpy, &mut objects)?;
        let runtime = &self.program.get().program;
        if !self.updates.is_empty() || !runtime.donated().is_empty() {
            return Err(PyTypeError::new_err(
                "C code cannot call a function that updates shared variables or has mutable inputs",
            ));
        }
        let unknown = || PyTypeError::new_err("an argument or a shared variable is no plain array");
        let views = objects.iter().zip(runtime.inputs());
        let inputs = views.map(|(object, ty)| numpy.view(object, ty.dtype, ty.shape.len()));
        let inputs = inputs.collect::<Option<Vec<_>>>().ok_or_else(unknown)?;
        let values = snapshot(py, self.shared.iter().map(|shared| &*shared.cell));
        let kept = values.iter().map(|value| keep(value.bind(py).as_any().clone()));
        let kept = kept.collect::<Option<Vec<_>>>().ok_or_else(unknown)?;
        let entry = Entry::new(runtime.clone(), &inputs, kept);
        entry.map_err(|error| self.raise(py, error))?.map(CFunction::from).ok_or_else(|| {
            PyTypeError::new_err("the shapes of the outputs depend on the values of the arguments")
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.program)?;
        visit.call(&self.convert)?;
        for default in self.parameters.iter().filter_map(|parameter| parameter.default.as_ref()) {
            visit.call(default)?;
        }
        for shared in &self.shared {
            visit.call(&shared.variable)?;
        }
        for update in &self.updates {
            visit.call(&update.variable)?;
        }
        if let Returned::Dict(keys) = &self.form {
            visit.call(keys)?;
        }
        Ok(())
    }
}

/// Views of the arrays that a program is run over.
#[inline]
fn views<'a>(
    numpy: &NumPy,
    objects: &'a Objects<'_>,
    program: &frazil_runtime::Program,
) -> PyResult<SmallVec<[ArrayRef<'a>; 8]>> {
    let mut arrays = SmallVec::new();
    for (object, ty) in objects.iter().zip(program.inputs()) {
        let array = numpy.view(object, ty.dtype, ty.shape.len());
        // Arguments are checked; a shared variable may hold an array that a subclass let in.
        arrays.push(array.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "a shared variable holds {}, an aligned {}-d array of {} is needed",
                object.get_type(),
                ty.shape.len(),
                ty.dtype,
            ))
        })?);
    }
    Ok(arrays)
}

fn type_of(py: Python<'_>, variable: &Py<SharedVariable>) -> PyResult<Ty> {
    let ty = variable.bind(py).getattr("type")?;
    Ok(ty.cast::<TensorType>()?.get().0.clone())
}

/// Checks that a program's inputs and outputs fit the function.
fn check(
    program: &Program,
    parameters: &[Parameter],
    shared: &[Shared],
    updates: &[Update],
) -> PyResult<()> {
    let runtime = program.runtime();
    let given = parameters
        .iter()
        .map(|parameter| (parameter.dtype, parameter.ndim))
        .chain(shared.iter().map(|shared| (shared.dtype, shared.ndim)));
    let declared = runtime.inputs().map(|ty| (ty.dtype, ty.shape.len()));
    if !given.eq(declared) {
        return Err(PyTypeError::new_err(
            "the inputs and shared variables are not those of the program",
        ));
    }
    for (at, update) in updates.iter().enumerate() {
        let output = runtime.outputs().nth(update.output);
        if output != Some((update.ty.dtype(), update.ty.ndim())) {
            return Err(PyTypeError::new_err(format!(
                "output {} of the program does not fit the shared variable that takes it",
                update.output
            )));
        }
        let others = &updates[..at];
        if others
            .iter()
            .any(|other| Arc::ptr_eq(&other.cell, &update.cell) || other.output == update.output)
        {
            return Err(PyValueError::new_err(
                "two updates name the same shared variable or the same output",
            ));
        }
    }
    Ok(())
}

impl Returned {
    /// `None`: a list; `"single"`; a tuple of keys: a dict.
    fn new(form: &Bound<'_, PyAny>, outputs: usize) -> PyResult<Returned> {
        let wrong = |message: String| Err(PyValueError::new_err(message));
        if form.is_none() {
            return Ok(Returned::List);
        }
        if let Ok(keys) = form.cast::<PyTuple>() {
            if keys.len() != outputs {
                return wrong(format!("{} keys for {outputs} outputs", keys.len()));
            }
            return Ok(Returned::Dict(keys.clone().unbind()));
        }
        if form.cast::<PyString>().is_ok_and(|form| form == "single") {
            if outputs != 1 {
                return wrong(format!("a single output is wanted, the program has {outputs}"));
            }
            return Ok(Returned::Single);
        }
        wrong(format!("the form is None, 'single' or a tuple of keys, given {form}"))
    }
}

impl Function {
    /// The program that calls run.
    pub fn program(&self) -> &Program {
        self.program.get()
    }

    /// Whether an output may be a view of an input.
    pub fn borrows(&self, output: usize, input: usize) -> bool {
        let lender = self.parameters.get(input);
        self.borrowing.contains(&output) && lender.is_some_and(|lender| lender.lent)
    }

    /// The results of a call with an object for each parameter, in order.
    pub fn results<'py>(&self, py: Python<'py>, objects: Objects<'py>) -> PyResult<Objects<'py>> {
        let outputs = self.outputs(py, NumPy::get(py), objects)?;
        if self.updates.is_empty() {
            return Ok(outputs);
        }
        Ok(self.returned.iter().map(|&output| outputs[output].clone()).collect())
    }

    /// All outputs, for an object for each parameter.
    #[inline]
    fn outputs<'py>(
        &self,
        py: Python<'py>,
        numpy: &NumPy,
        mut objects: Objects<'py>,
    ) -> PyResult<Objects<'py>> {
        self.convert(numpy, &mut objects)?;
        if self.shared.is_empty() && self.updates.is_empty() {
            self.compute(py, numpy, objects)
        } else {
            self.compute_and_store(py, numpy, &objects)
        }
    }

    /// The outputs for the values that shared variables have, which take their updates.
    ///
    /// Values are read at one moment, and stored if those that are updated have not changed since:
    /// if they have, all is computed again, so that no update is lost.
    fn compute_and_store<'py>(
        &self,
        py: Python<'py>,
        numpy: &NumPy,
        arguments: &Objects<'py>,
    ) -> PyResult<Objects<'py>> {
        loop {
            let before = changes_by_this_thread();
            let values = snapshot(py, self.shared.iter().map(|shared| &*shared.cell));
            let mut objects = arguments.clone();
            objects.extend(values.iter().map(|value| value.bind(py).clone().into_any()));
            let outputs = self.compute(py, numpy, objects)?;
            // Whoever changed the values in this thread did so within this call, and would again.
            let nested = changes_by_this_thread() != before;
            if self.store(py, &outputs, if nested { None } else { Some(&values) })? {
                return Ok(outputs);
            }
            if !self.program.get().runtime().donated().is_empty() {
                return Err(PyRuntimeError::new_err(format!(
                    "another call updated {} while this one ran, which cannot start again as it \
                     may write to its arguments: make one call after the other, or leave \
                     mutable=True out",
                    self.updated_names(py)?
                )));
            }
            py.check_signals()?;
        }
    }

    /// The names of the shared variables that calls update.
    #[cold]
    fn updated_names(&self, py: Python<'_>) -> PyResult<String> {
        let names =
            self.updates.iter().map(|update| Ok(update.variable.bind(py).str()?.to_string()));
        Ok(names.collect::<PyResult<Vec<_>>>()?.join(", "))
    }

    /// The outputs for the values of all inputs.
    #[inline]
    fn compute<'py>(
        &self,
        py: Python<'py>,
        numpy: &NumPy,
        mut objects: Objects<'py>,
    ) -> PyResult<Objects<'py>> {
        let donated = self.program.get().runtime().donated();
        if !donated.is_empty() {
            separate(numpy, &mut objects, donated)?;
        }
        self.run(py, numpy, &objects)
    }

    /// Runs the program over arrays; gives all its outputs.
    #[inline]
    fn run<'py>(
        &self,
        py: Python<'py>,
        numpy: &NumPy,
        objects: &Objects<'py>,
    ) -> PyResult<Objects<'py>> {
        let program = self.program.get();
        let runtime = program.runtime();
        let arrays = views(numpy, objects, runtime)?;
        // SAFETY: the views are of aligned arrays, which `objects` keeps alive until the run is
        // dropped.
        let mut run = unsafe { runtime.bind(&arrays) }.map_err(|error| self.raise(py, error))?;
        let count = runtime.outputs().len();
        let mut outputs: SmallVec<[Option<Bound<'py, PyAny>>; 8]> = SmallVec::new();
        for position in 0..count {
            if run.lies_in(position).is_some_and(|input| self.borrows(position, input)) {
                run.leave_output(position);
                outputs.push(None);
                continue;
            }
            let Some(spec) = run.output(position) else {
                outputs.push(None);
                continue;
            };
            let array = numpy.empty(py, spec.dtype, spec.dims, spec.strides)?;
            let data = numpy.data(&array);
            outputs.push(Some(array));
            // SAFETY: the array is fresh and as specified, and `outputs` keeps it alive until the
            // run is dropped.
            unsafe { run.set_output(position, data) };
        }
        // The environment is read before the GIL may go.
        let threads = self.threads.map(usize::from).or_else(given_threads);
        let run = execute(py, run, threads)?.map_err(|error| self.raise(py, error));
        if runtime.is_due() {
            tell_hot(self.program.bind(py));
        }
        let mut run = run?;
        let mut arrays = Objects::new();
        for (position, output) in outputs.into_iter().enumerate() {
            if let (Some(input), Some(left)) = (run.lies_in(position), run.left_output(position)) {
                // SAFETY: the output lies in the memory of this input.
                arrays.push(unsafe { numpy.lent_by(&objects[input], &left)? });
                continue;
            }
            arrays.push(match (output, run.take_output(position)) {
                (Some(array), _) => array,
                (None, Some(output)) => numpy.adopt(py, output)?,
                (None, None) => {
                    return Err(PyRuntimeError::new_err(format!(
                        "the program did not make output {position}"
                    )));
                }
            });
        }
        Ok(arrays)
    }

    #[cold]
    fn raise(&self, py: Python<'_>, error: Error) -> PyErr {
        let name = |input: usize| match self.parameters.get(input) {
            Some(parameter) => parameter.name.as_ref().map(ToString::to_string),
            None => {
                let shared = self.shared.get(input - self.parameters.len())?;
                shared.variable.bind(py).getattr("name").ok()?.extract().ok()
            }
        };
        self.program.get().raise(py, error, name)
    }

    /// Hands outputs to the shared variables: all of them or, after an error, none. Gives whether
    /// that was done: not if a variable no longer has the value in `known` that the call read.
    fn store<'py>(
        &self,
        py: Python<'py>,
        outputs: &Objects<'py>,
        known: Option<&Arrays>,
    ) -> PyResult<bool> {
        if self.updates.is_empty() {
            return Ok(true);
        }
        let mut replacements = SmallVec::new();
        for update in &self.updates {
            let array = outputs[update.output].cast::<numpy::PyUntypedArray>()?;
            let view = NumPy::get(py).view(array.as_any(), update.ty.dtype(), update.ty.ndim());
            let fits = view.is_some_and(|view| {
                let known = update.ty.shape().iter();
                known
                    .zip(view.dims)
                    .all(|(known, &given)| known.is_none_or(|known| known == given as u64))
            });
            if !fits {
                return Err(PyValueError::new_err(format!(
                    "the update of {} has shape {}, its type is {}",
                    update.variable.bind(py).str()?,
                    array.getattr("shape")?,
                    update.ty,
                )));
            }
            replacements.push(Replacement {
                cell: &update.cell,
                known: known.zip(update.read).map(|(known, at)| &known[at]),
                array: array.clone().unbind().into(),
            });
        }
        Ok(replace(replacements))
    }

    /// The outputs in the form that was asked for.
    #[inline]
    fn present<'py>(&self, py: Python<'py>, outputs: &mut Objects<'py>) -> ObjectResult<'py> {
        match &self.form {
            Returned::Single => Ok(outputs.swap_remove(self.returned[0])),
            Returned::List if self.updates.is_empty() => {
                Ok(PyList::new(py, outputs.drain(..))?.into_any())
            }
            Returned::List => {
                let returned = self.returned.iter().map(|&output| &outputs[output]);
                Ok(PyList::new(py, returned)?.into_any())
            }
            Returned::Dict(keys) => {
                let dict = PyDict::new(py);
                for (key, &output) in keys.bind(py).iter_borrowed().zip(&self.returned) {
                    dict.set_item(key, &outputs[output])?;
                }
                Ok(dict.into_any())
            }
        }
    }
}

/// Executes a run, without the GIL unless it would be back at once: giving the GIL away and waiting
/// for it takes longer than a brief run, and more so the more threads want it. A panic, which is a
/// fault of frazil, becomes a RuntimeError.
#[inline]
fn execute<'p>(
    py: Python<'_>,
    mut run: Run<'p>,
    threads: Option<usize>,
) -> PyResult<Result<Run<'p>, Error>> {
    let brief = run.was_brief();
    let attempt = || {
        catch_unwind(AssertUnwindSafe(move || {
            let signals = if brief { Signals::holding() } else { Signals::default() };
            let done =
                Conduct::attended(threads, &|| signals.raised(), |conduct| run.execute(conduct));
            if signals.took_turns() {
                run.note_long();
            }
            (run, done, signals.error.into_inner())
        }))
    };
    let done = if brief { attempt() } else { detached(py, attempt) };
    match done {
        Ok((_, _, Some(error))) => Err(error.into_exception()),
        Ok((run, Ok(()), None)) => Ok(Ok(run)),
        Ok((_, Err(error), None)) => Ok(Err(error)),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown");
            Err(PyRuntimeError::new_err(format!(
                "frazil failed by itself, please report it: {text}"
            )))
        }
    }
}
