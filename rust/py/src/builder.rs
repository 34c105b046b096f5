//! `ProgramBuilder`: the runtime's builder, with numbers for slots, sizes and origins.

use std::sync::Arc;

use frazil_runtime::{
    ArrayType, BandForm, Builder, Carry, Lengths, Listed, LoopSpec, Nested, Origin, ScanKernelSpec,
    ScanSpec, ShortKernel, Size, SizeOp, Slot, TriangularForm, WriteSpec,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use self::arguments::{
    IndexedArgument, StateArgument, TargetArgument, WriteArgument, array_type, axes, decomposition,
    failure, fold, identity, indices, next, numbers, sizes, slots, sources_of, targets_of,
};
use crate::callable::Callable;
use crate::draws::find_distribution;
use crate::error::refuse;
use crate::ndarray::keep;
use crate::owned::Owned;
use crate::program::{Program, kernel_at};
use crate::types::{TensorType, dtype_of};

mod arguments;

/// Assembles a flat program. Slots, sizes and origins are small ints.
#[pyclass(module = "frazil._core")]
#[derive(Default)]
pub struct ProgramBuilder {
    /// `None` once the program is finished.
    builder: Option<Builder>,
    origins: Vec<Py<PyAny>>,
    functions: Vec<Py<PyAny>>,
    /// Programs that instructions run, with their numbers.
    nested: Vec<(Py<Program>, Nested)>,
}

impl ProgramBuilder {
    fn builder(&mut self) -> PyResult<&mut Builder> {
        self.builder.as_mut().ok_or_else(|| PyRuntimeError::new_err("the program is finished"))
    }

    /// The number of a nested program, whose origins follow those known so far.
    fn nest(&mut self, program: &Bound<'_, Program>) -> PyResult<Nested> {
        let py = program.py();
        if let Some((_, number)) = self.nested.iter().find(|(known, _)| known.is(program)) {
            return Ok(*number);
        }
        let first = Origin::from_index(self.origins.len());
        let number = self.builder()?.nest(Arc::clone(&program.get().program), first);
        let number = number.map_err(refuse)?;
        for origin in program.get().origins.bind(py).try_iter()? {
            self.origins.push(origin?.unbind());
        }
        self.nested.push((program.clone().unbind(), number));
        Ok(number)
    }
}

#[pymethods]
impl ProgramBuilder {
    #[new]
    fn new() -> ProgramBuilder {
        ProgramBuilder { builder: Some(Builder::new()), ..ProgramBuilder::default() }
    }

    /// The slot of the next input.
    fn input(&mut self, r#type: &TensorType) -> PyResult<u32> {
        Ok(self.builder()?.input(array_type(r#type)).map_err(refuse)?.0)
    }

    /// Lets calls use up the memory of an input.
    fn donate(&mut self, slot: u32) -> PyResult<()> {
        self.builder()?.donate(Slot(slot)).map_err(refuse)
    }

    /// Makes a program whose runs look for faults.
    fn watch(&mut self) -> PyResult<()> {
        self.builder()?.watch();
        Ok(())
    }

    /// The slot of an array that is only read; it is borrowed and kept alive.
    fn constant(&mut self, value: Bound<'_, PyAny>) -> PyResult<u32> {
        let array = keep(value).ok_or_else(|| {
            PyTypeError::new_err("a constant is an aligned array of one of frazil's dtypes")
        })?;
        Ok(self.builder()?.constant(array).map_err(refuse)?.0)
    }

    /// The size that is always `value`.
    fn size_literal(&mut self, value: i64) -> PyResult<u32> {
        Ok(self.builder()?.size_literal(value).map_err(refuse)?.0)
    }

    /// The length of an axis of a slot.
    fn size_of(&mut self, slot: u32, axis: usize) -> PyResult<u32> {
        Ok(self.builder()?.size_of(Slot(slot), axis).map_err(refuse)?.0)
    }

    /// Two sizes combined by a named operation.
    fn size_binary(&mut self, op: &str, a: u32, b: u32) -> PyResult<u32> {
        let op = SizeOp::from_name(op).ok_or_else(|| {
            let known = SizeOp::ALL.map(SizeOp::name).join(", ");
            PyValueError::new_err(format!("there is no size op {op:?}; there are {known}"))
        })?;
        Ok(self.builder()?.size_binary(op, Size(a), Size(b)).map_err(refuse)?.0)
    }

    /// `a` where `condition` is not zero, else `b`.
    fn size_where(&mut self, condition: u32, a: u32, b: u32) -> PyResult<u32> {
        Ok(self.builder()?.size_where(Size(condition), Size(a), Size(b)).map_err(refuse)?.0)
    }

    /// The value of a 0-d integer slot.
    fn size_value(&mut self, slot: u32) -> PyResult<u32> {
        Ok(self.builder()?.size_value(Slot(slot)).map_err(refuse)?.0)
    }

    /// The origin of later instructions; formatted only on error.
    fn origin(&mut self, what: Py<PyAny>) -> PyResult<()> {
        let origin = Origin::from_index(self.origins.len());
        self.builder()?.origin(Some(origin));
        self.origins.push(what);
        Ok(())
    }

    /// A native kernel over all positions of `dims`; returns the slots that it writes.
    ///
    /// The kernel at `address` must follow the loop kernels' calling convention for exactly these
    /// operands and stay loaded as long as `keepalive` lives, and so must the kernel of `short`.
    #[pyo3(signature = (address, keepalive, dims, reads, writes, rows=None, sources=Vec::new(), targets=Vec::new(), short=None))]
    #[allow(clippy::too_many_arguments)]
    fn r#loop(
        &mut self,
        address: usize,
        keepalive: Py<PyAny>,
        dims: Vec<u32>,
        reads: Vec<(u32, Vec<i64>)>,
        writes: Vec<WriteArgument<'_>>,
        rows: Option<Vec<Bound<'_, PyAny>>>,
        sources: Vec<IndexedArgument>,
        targets: Vec<TargetArgument>,
        short: Option<(usize, Py<PyAny>, i64)>,
    ) -> PyResult<Vec<u32>> {
        let reads: Vec<_> = reads
            .into_iter()
            .map(|(slot, read)| Ok((Slot(slot), axes(read)?)))
            .collect::<PyResult<_>>()?;
        let writes: Vec<_> = writes
            .into_iter()
            .map(|(dtype, write, reduction)| {
                let dtype = dtype_of(&dtype)?;
                let mut spec = WriteSpec { dtype, axes: axes(write)?, identity: None, fold: None };
                if let Some((start, name)) = reduction {
                    spec.identity = Some(identity(dtype, &start)?);
                    spec.fold = Some(fold(&name)?);
                }
                Ok(spec)
            })
            .collect::<PyResult<_>>()?;
        let rows = rows.map(|rows| rows.iter().map(dtype_of).collect::<PyResult<Vec<_>>>());
        let rows = rows.transpose()?;
        let builder = self.builder()?;
        let spec = LoopSpec {
            dims: sizes(dims),
            reads,
            sources: sources_of(sources)?,
            writes,
            targets: targets_of(targets)?,
            rows,
        };
        // SAFETY: no address is null and, by the caller's promise, each is that of a kernel for these
        // operands.
        let slots = unsafe {
            let function = kernel_at(address)?;
            let short = short.map(|(address, keepalive, limit)| {
                let keep = Box::new(Owned::from(keepalive));
                PyResult::Ok(ShortKernel { function: kernel_at(address)?, keep, limit })
            });
            let short = short.transpose()?;
            builder.loop_of(function, Box::new(Owned::from(keepalive)), spec, short)
        };
        Ok(numbers(slots.map_err(refuse)?))
    }

    /// A native kernel that goes over all steps; returns the slots that it writes.
    ///
    /// The kernel at `address` must follow the calling convention of scan kernels for exactly these
    /// operands and stay loaded as long as `keepalive` lives.
    #[pyo3(signature = (address, keepalive, steps, reads, writes, carries, backwards=false, counts=false))]
    #[allow(clippy::too_many_arguments)]
    fn scan_kernel(
        &mut self,
        address: usize,
        keepalive: Py<PyAny>,
        steps: u32,
        reads: Vec<(u32, bool, Vec<u64>)>,
        writes: Vec<(Bound<'_, PyAny>, bool, Vec<u64>)>,
        carries: Vec<(u32, u32)>,
        backwards: bool,
        counts: bool,
    ) -> PyResult<Vec<u32>> {
        let reads = reads.into_iter().map(|(slot, walks, row)| (Slot(slot), walks, row)).collect();
        let writes = writes
            .into_iter()
            .map(|(dtype, walks, row)| Ok((dtype_of(&dtype)?, walks, row)))
            .collect::<PyResult<_>>()?;
        let steps = Size(steps);
        let carries = carries.into_iter().map(|(read, write)| Carry { read, write }).collect();
        let spec = ScanKernelSpec { steps, backwards, reads, writes, carries, counts };
        // SAFETY: the address is not null and, by the caller's promise, that of a kernel for these
        // operands.
        let slots = unsafe {
            let function = kernel_at(address)?;
            self.builder()?.scan_kernel(function, Box::new(Owned::from(keepalive)), spec)
        };
        Ok(numbers(slots.map_err(refuse)?))
    }

    /// The axes in another order: a view.
    fn transpose(&mut self, slot: u32, axes: Vec<usize>) -> PyResult<u32> {
        Ok(self.builder()?.transpose(Slot(slot), &axes).map_err(refuse)?.0)
    }

    /// Axes of length 1 at these positions of the result: a view.
    fn expand_dims(&mut self, slot: u32, axes: Vec<usize>) -> PyResult<u32> {
        Ok(self.builder()?.expand_dims(Slot(slot), &axes).map_err(refuse)?.0)
    }

    /// Without these axes, each of length 1: a view.
    fn drop_dims(&mut self, slot: u32, axes: Vec<usize>) -> PyResult<u32> {
        Ok(self.builder()?.drop_dims(Slot(slot), &axes).map_err(refuse)?.0)
    }

    /// New axes in front, and axes of length 1 repeated: a view.
    fn broadcast_to(&mut self, slot: u32, dims: Vec<u32>) -> PyResult<u32> {
        Ok(self.builder()?.broadcast_to(Slot(slot), &sizes(dims)).map_err(refuse)?.0)
    }

    /// The elements that basic indexing picks: a view.
    fn slice(&mut self, slot: u32, index: Vec<Bound<'_, PyAny>>) -> PyResult<u32> {
        Ok(self.builder()?.slice(Slot(slot), &indices(index)?).map_err(refuse)?.0)
    }

    /// The elements on a diagonal of two axes, as a last axis: a view.
    fn diagonal(&mut self, slot: u32, axes: [usize; 2], offset: i64) -> PyResult<u32> {
        Ok(self.builder()?.diagonal(Slot(slot), axes, offset).map_err(refuse)?.0)
    }

    /// The same elements with other dims; one may be -1. A view where strides allow it, else a
    /// copy.
    fn reshape(&mut self, slot: u32, dims: Vec<u32>) -> PyResult<u32> {
        Ok(self.builder()?.reshape(Slot(slot), &sizes(dims)).map_err(refuse)?.0)
    }

    /// A fresh array in C order.
    fn copy(&mut self, slot: u32) -> PyResult<u32> {
        Ok(self.builder()?.copy(Slot(slot)).map_err(refuse)?.0)
    }

    /// A fresh copy of `slot` in which what `view` picks is set to `value`, or increased by it.
    fn update(
        &mut self,
        slot: u32,
        view: Vec<Bound<'_, PyAny>>,
        value: u32,
        accumulate: bool,
    ) -> PyResult<u32> {
        let (slot, view, value) = (Slot(slot), indices(view)?, Slot(value));
        let builder = self.builder()?;
        let made = if accumulate {
            builder.increment(slot, &view, value)
        } else {
            builder.set(slot, &view, value)
        };
        Ok(made.map_err(refuse)?.0)
    }

    /// The product of vectors and matrices of one type, or of as many pairs of matrices.
    fn dot(&mut self, a: u32, b: u32) -> PyResult<u32> {
        Ok(self.builder()?.dot(Slot(a), Slot(b)).map_err(refuse)?.0)
    }

    /// `beta z + alpha a b` for arrays of one float type; `alpha` and `beta` are 0-d.
    fn gemm(&mut self, z: u32, alpha: u32, a: u32, b: u32, beta: u32) -> PyResult<u32> {
        let [z, alpha, a, b, beta] = [z, alpha, a, b, beta].map(Slot);
        Ok(self.builder()?.gemm(z, alpha, a, b, beta).map_err(refuse)?.0)
    }

    /// The lower (or upper) factor of a positive definite matrix; only that triangle is read.
    #[pyo3(signature = (slot, lower, on_error = "raise"))]
    fn cholesky(&mut self, slot: u32, lower: bool, on_error: &str) -> PyResult<u32> {
        let on_error = failure(on_error)?;
        Ok(self.builder()?.cholesky(Slot(slot), lower, on_error).map_err(refuse)?.0)
    }

    /// The gradient of a matrix whose lower triangle was factored.
    fn cholesky_gradient(&mut self, factor: u32, gradient: u32) -> PyResult<u32> {
        let (factor, gradient) = (Slot(factor), Slot(gradient));
        Ok(self.builder()?.cholesky_gradient(factor, gradient).map_err(refuse)?.0)
    }

    /// The solution of a system of equations with a triangle of `a`.
    #[pyo3(signature = (a, b, lower, transposed, unit, on_error = "raise"))]
    fn solve_triangular(
        &mut self,
        a: u32,
        b: u32,
        lower: bool,
        transposed: bool,
        unit: bool,
        on_error: &str,
    ) -> PyResult<u32> {
        let form = TriangularForm { lower, transposed, unit };
        let (a, b, on_error) = (Slot(a), Slot(b), failure(on_error)?);
        Ok(self.builder()?.solve_triangular(a, b, form, on_error).map_err(refuse)?.0)
    }

    /// The factors of a matrix, and with which rows its rows changed places.
    fn lu(&mut self, slot: u32) -> PyResult<(u32, u32)> {
        let [factors, pivots] = self.builder()?.lu(Slot(slot)).map_err(refuse)?;
        Ok((factors.0, pivots.0))
    }

    /// As `lu`, of a matrix that need not be square; and the place of each row in the product.
    fn lu_of_any(&mut self, slot: u32) -> PyResult<(u32, u32, u32)> {
        let [factors, pivots, places] = self.builder()?.lu_of_any(Slot(slot)).map_err(refuse)?;
        Ok((factors.0, pivots.0, places.0))
    }

    /// The solution of a system of equations, given the factors of its matrix.
    #[pyo3(signature = (factors, pivots, b, transposed, on_error = "raise"))]
    fn lu_solve(
        &mut self,
        factors: u32,
        pivots: u32,
        b: u32,
        transposed: bool,
        on_error: &str,
    ) -> PyResult<u32> {
        let (operands, on_error) = ([factors, pivots, b].map(Slot), failure(on_error)?);
        Ok(self.builder()?.lu_solve(operands, transposed, on_error).map_err(refuse)?.0)
    }

    /// The solution of a system of equations whose matrix has elements in a few diagonals.
    #[pyo3(signature = (a, b, bands, packed, transposed, on_error = "raise"))]
    fn band_solve(
        &mut self,
        a: u32,
        b: u32,
        bands: Option<[u32; 2]>,
        packed: bool,
        transposed: bool,
        on_error: &str,
    ) -> PyResult<u32> {
        let form = BandForm { bands, packed, transposed };
        let (a, b, on_error) = (Slot(a), Slot(b), failure(on_error)?);
        Ok(self.builder()?.band_solve(a, b, form, on_error).map_err(refuse)?.0)
    }

    /// The decomposition of a matrix.
    #[pyo3(signature = (slot, what, on_error = "raise"))]
    fn decompose(&mut self, slot: u32, what: &str, on_error: &str) -> PyResult<Vec<u32>> {
        let (what, on_error) = (decomposition(what)?, failure(on_error)?);
        let slots = self.builder()?.decompose(Slot(slot), what, on_error).map_err(refuse)?;
        Ok(slots.into_iter().map(|slot| slot.0).collect())
    }

    /// Integers: `count` of them, from `start` on, each larger by `step`.
    fn range(&mut self, start: u32, step: u32, count: u32) -> PyResult<u32> {
        let [start, step, count] = [start, step, count].map(Size);
        Ok(self.builder()?.range(start, step, count).map_err(refuse)?.0)
    }

    /// The number of terms of a progression.
    fn count_terms(&mut self, start: u32, stop: u32, step: u32) -> PyResult<u32> {
        let [start, stop, step] = [start, stop, step].map(Slot);
        Ok(self.builder()?.count_terms(start, stop, step).map_err(refuse)?.0)
    }

    /// The first `count` terms of a progression.
    fn terms(&mut self, start: u32, step: u32, count: u32) -> PyResult<u32> {
        let [start, step] = [start, step].map(Slot);
        Ok(self.builder()?.terms(start, step, Size(count)).map_err(refuse)?.0)
    }

    /// The arrays one after the other along an axis.
    fn join(&mut self, parts: Vec<u32>, axis: usize) -> PyResult<u32> {
        Ok(self.builder()?.join(&slots(parts), axis).map_err(refuse)?.0)
    }

    /// The elements sorted along an axis.
    fn sort(&mut self, slot: u32, axis: usize) -> PyResult<u32> {
        Ok(self.builder()?.sort(Slot(slot), axis).map_err(refuse)?.0)
    }

    /// The positions that sort the elements along an axis.
    fn argsort(&mut self, slot: u32, axis: usize) -> PyResult<u32> {
        Ok(self.builder()?.argsort(Slot(slot), axis).map_err(refuse)?.0)
    }

    /// The position of the largest element along an axis.
    fn argmax(&mut self, slot: u32, axis: usize) -> PyResult<u32> {
        Ok(self.builder()?.argmax(Slot(slot), axis).map_err(refuse)?.0)
    }

    /// The position of the smallest element along an axis.
    fn argmin(&mut self, slot: u32, axis: usize) -> PyResult<u32> {
        Ok(self.builder()?.argmin(Slot(slot), axis).map_err(refuse)?.0)
    }

    /// The number of elements that are not zero.
    fn count_nonzero(&mut self, slot: u32) -> PyResult<u32> {
        Ok(self.builder()?.count(Slot(slot), Listed::Nonzero).map_err(refuse)?.0)
    }

    /// The positions of the first `count` elements that are not zero.
    fn nonzero(&mut self, slot: u32, count: u32) -> PyResult<Vec<u32>> {
        let found = self.builder()?.list(Slot(slot), Size(count), Listed::Nonzero);
        Ok(found.map_err(refuse)?.into_iter().map(|slot| slot.0).collect())
    }

    /// The number of positions if each is repeated as often as its element says.
    fn count_repeated(&mut self, slot: u32) -> PyResult<u32> {
        Ok(self.builder()?.count(Slot(slot), Listed::Repeated).map_err(refuse)?.0)
    }

    /// The first `count` of these positions.
    fn repeated(&mut self, slot: u32, count: u32) -> PyResult<u32> {
        let found = self.builder()?.list(Slot(slot), Size(count), Listed::Repeated);
        Ok(found.map_err(refuse)?[0].0)
    }

    /// Random numbers in an array of `dims`: the state of the generator after them, and they.
    fn draw(
        &mut self,
        distribution: &str,
        dtype: &Bound<'_, PyAny>,
        state: u32,
        parameters: Vec<u32>,
        dims: Vec<u32>,
    ) -> PyResult<(u32, u32)> {
        let distribution = find_distribution(distribution, dtype_of(dtype)?)?;
        let (parameters, dims) = (slots(parameters), sizes(dims));
        let made = self.builder()?.draw(distribution, Slot(state), &parameters, &dims);
        let [next, to] = made.map_err(refuse)?;
        Ok((next.0, to.0))
    }

    /// A size as a 0-d int64.
    fn size_scalar(&mut self, size: u32) -> PyResult<u32> {
        Ok(self.builder()?.size_scalar(Size(size)).map_err(refuse)?.0)
    }

    /// A fresh array of `dims`, every element that of the 0-d slot `value`.
    fn full(&mut self, dtype: &Bound<'_, PyAny>, value: u32, dims: Vec<u32>) -> PyResult<u32> {
        let dtype = dtype_of(dtype)?;
        Ok(self.builder()?.full(dtype, Slot(value), &sizes(dims)).map_err(refuse)?.0)
    }

    /// Stops the call unless the sizes are equal.
    fn require_equal(&mut self, a: u32, b: u32, message: &str) -> PyResult<()> {
        self.builder()?.require_equal(Size(a), Size(b), message).map_err(refuse)
    }

    /// Stops the call unless the sizes, which are of indices, are equal.
    fn require_indices(&mut self, a: u32, b: u32, message: &str) -> PyResult<()> {
        self.builder()?.require_indices(Size(a), Size(b), message).map_err(refuse)
    }

    /// Stops the call if a size is 0.
    fn check(&mut self, holds: u32, message: &str, asserted: bool) -> PyResult<()> {
        self.builder()?.check(Size(holds), message, asserted).map_err(refuse)
    }

    /// A Python function from arrays to an array or a tuple of them.
    fn call(
        &mut self,
        py: Python<'_>,
        function: Py<PyAny>,
        inputs: Vec<u32>,
        output_types: Vec<PyRef<'_, TensorType>>,
    ) -> PyResult<Vec<u32>> {
        let inputs = slots(inputs);
        let types: Vec<ArrayType> = output_types.iter().map(|ty| array_type(ty)).collect();
        let callable = Arc::new(Callable::new(function.clone_ref(py), types.len()));
        let slots = self.builder()?.call(callable, &inputs, &types).map_err(refuse)?;
        self.functions.push(function);
        Ok(numbers(slots))
    }

    /// Runs a program once; the slots of its outputs. Where inputs have other lengths than it takes, the
    /// program `instead` runs.
    #[pyo3(signature = (program, inputs, instead = None))]
    fn call_program(
        &mut self,
        program: &Bound<'_, Program>,
        inputs: Vec<u32>,
        instead: Option<&Bound<'_, Program>>,
    ) -> PyResult<Vec<u32>> {
        let program = self.nest(program)?;
        let instead = instead.map(|instead| self.nest(instead)).transpose()?;
        Ok(numbers(self.builder()?.run(program, instead, &slots(inputs)).map_err(refuse)?))
    }

    /// Runs the first program if the 0-d condition is not zero, else the second; the slots of
    /// their outputs. `lengths` are the sizes of each output, or `None` where only a run tells.
    fn branch(
        &mut self,
        condition: u32,
        then: &Bound<'_, Program>,
        otherwise: &Bound<'_, Program>,
        inputs_then: Vec<u32>,
        inputs_else: Vec<u32>,
        lengths: Vec<Option<Vec<u32>>>,
    ) -> PyResult<Vec<u32>> {
        let programs = [self.nest(then)?, self.nest(otherwise)?];
        let inputs = [slots(inputs_then), slots(inputs_else)];
        let arms = [(programs[0], &inputs[0][..]), (programs[1], &inputs[1][..])];
        let lengths = lengths.into_iter().map(|sizes| Some(sizes?.into_iter().map(Size).collect()));
        let lengths: Vec<Lengths> = lengths.collect();
        Ok(numbers(self.builder()?.branch(Slot(condition), arms, &lengths).map_err(refuse)?))
    }

    /// Runs a program step after step: the slots of the states after the last step, of the stacked
    /// outputs, and of the number of steps done.
    #[pyo3(signature = (program, n_steps, sequences, states, others, stacked, until = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn scan(
        &mut self,
        program: &Bound<'_, Program>,
        n_steps: u32,
        sequences: Vec<u32>,
        states: Vec<StateArgument>,
        others: Vec<u32>,
        stacked: Vec<usize>,
        until: Option<usize>,
    ) -> PyResult<(Vec<u32>, Vec<u32>, u32)> {
        let states = states.into_iter();
        let states = states.map(|(init, source, number)| Ok((Slot(init), next(&source, number)?)));
        let spec = ScanSpec {
            program: self.nest(program)?,
            steps: Size(n_steps),
            sequences: slots(sequences),
            states: states.collect::<PyResult<_>>()?,
            others: slots(others),
            stacked,
            until,
        };
        let made = self.builder()?.scan(&spec).map_err(refuse)?;
        Ok((numbers(made.finals), numbers(made.stacked), made.steps.0))
    }

    /// The program that computes these slots; nothing can be added afterwards.
    fn finish(&mut self, py: Python<'_>, outputs: Vec<u32>) -> PyResult<Program> {
        self.builder()?;
        let builder = self.builder.take().unwrap_or_default();
        let program = builder.finish(&slots(outputs)).map_err(refuse)?;
        let origins = PyTuple::new(py, std::mem::take(&mut self.origins))?.into_any().unbind();
        let mut functions = std::mem::take(&mut self.functions);
        let nested = std::mem::take(&mut self.nested).into_iter().map(|(nested, _)| nested);
        let nested: Vec<Py<Program>> = nested.collect();
        for nested in &nested {
            functions.extend(nested.get().functions.iter().map(|function| function.clone_ref(py)));
        }
        Ok(Program { program: Arc::new(program), origins, functions, _nested: nested })
    }
}
