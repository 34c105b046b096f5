//! Programs as functions for C: addresses in, addresses out, a status.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::arrays::array::{ArrayRef, KeptArray};
use crate::arrays::layout::Layout;
use crate::arrays::strided::{Transfer, TransferPlan};
use crate::error::{Error, Fault};
use crate::program::Program;
use crate::threads::conduct::Conduct;

/// The function that C code calls. It takes a context, the address of each input, the address of each output; the
/// status is 0, or 1 after an error, or 2 after a fault of frazil's own.
pub type EntryFn = unsafe extern "C" fn(*const c_void, *const *const u8, *const *mut u8) -> i32;

/// A program with the lengths of its inputs; some inputs have their values already.
pub struct Entry {
    program: Arc<Program>,
    /// In C order, those that a call gives.
    inputs: Box<[Layout]>,
    /// The inputs that come after them.
    kept: Box<[KeptArray]>,
    /// In C order.
    outputs: Box<[Layout]>,
}

impl Entry {
    /// The function to call with the address of an entry as its context, from any thread.
    pub const FUNCTION: EntryFn = call;

    /// An entry for inputs with the lengths of these arrays. `None`: only a run knows the lengths
    /// of its outputs.
    pub fn new(
        program: Arc<Program>,
        inputs: &[ArrayRef<'_>],
        kept: Vec<KeptArray>,
    ) -> Result<Option<Entry>, Error> {
        let fresh = |dims: &[i64], itemsize| Layout::fresh(dims, itemsize).map_err(Error::at(None));
        let layouts = inputs.iter().map(|input| fresh(input.dims, input.dtype.itemsize()));
        let layouts = layouts.collect::<Result<Box<[Layout]>, Error>>()?;
        let given = inputs
            .iter()
            .zip(&layouts)
            .map(|(input, layout)| ArrayRef { strides: &layout.strides, ..*input });
        let all: Vec<ArrayRef<'_>> = given.chain(kept.iter().map(KeptArray::as_ref)).collect();
        // The addresses and layouts of inputs are not needed before a call.
        let run = program.prepare(&all)?;
        let mut outputs = Vec::new();
        for position in 0..program.outputs().len() {
            let Some(spec) = run.output(position) else { return Ok(None) };
            outputs.push(fresh(spec.dims, spec.dtype.itemsize())?);
        }
        drop(run);
        let (kept, outputs) = (kept.into(), outputs.into());
        Ok(Some(Entry { program, inputs: layouts, kept, outputs }))
    }

    /// The lengths of the inputs that a call gives.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &[i64]> {
        self.inputs.iter().map(|layout| &*layout.dims)
    }

    /// The lengths of the outputs.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &[i64]> {
        self.outputs.iter().map(|layout| &*layout.dims)
    }

    /// Runs the program.
    ///
    /// # Safety
    /// As for [`call`].
    unsafe fn run(&self, inputs: *const *const u8, outputs: *const *mut u8) -> Result<(), Error> {
        let mut arrays: SmallVec<[ArrayRef<'_>; 8]> = SmallVec::new();
        for (at, (ty, layout)) in self.program.inputs().zip(&self.inputs).enumerate() {
            arrays.push(ArrayRef {
                dtype: ty.dtype,
                // SAFETY: the caller gives an address for each input.
                data: unsafe { *inputs.add(at) },
                dims: &layout.dims,
                strides: &layout.strides,
                owner: None,
            });
        }
        arrays.extend(self.kept.iter().map(KeptArray::as_ref));
        // SAFETY: the caller's arrays are readable and aligned during the call, the kept ones always.
        let mut run = unsafe { self.program.bind(&arrays)? };
        let mut elsewhere: SmallVec<[usize; 4]> = SmallVec::new();
        for (position, layout) in self.outputs.iter().enumerate() {
            if run.output(position).is_some_and(|spec| spec.strides == &*layout.strides) {
                // SAFETY: the caller's memory is as large, aligned, and apart from all else.
                unsafe { run.set_output(position, *outputs.add(position)) };
            } else {
                elsewhere.push(position);
            }
        }
        run.execute(&Conduct::ALONE)?;
        for position in elsewhere {
            let made = run.take_output(position).expect("the runtime made what nobody gave memory");
            let (dtype, from) = (made.dtype, &made.layout);
            let to = &self.outputs[position].strides;
            let copy = TransferPlan::new(Transfer::Copy, dtype, &from.dims, to, &from.strides);
            // SAFETY: both have these lengths; the caller's memory is as above.
            let copied = unsafe {
                copy.run_with(*outputs.add(position), made.buffer.as_ptr(), &Conduct::ALONE)
            };
            copied.map_err(|halt| Error::at(None)(Fault::from(halt)))?;
        }
        Ok(())
    }
}

/// The function that C code calls.
///
/// # Safety
/// `context` is the address of an [`Entry`] that lives during the call. `inputs` and `outputs` hold
/// an address for each of its inputs and outputs. There lie as many elements as the lengths say, in C
/// order and aligned. Inputs can be read; outputs can be written and are apart from all else.
unsafe extern "C" fn call(
    context: *const c_void,
    inputs: *const *const u8,
    outputs: *const *mut u8,
) -> i32 {
    // SAFETY: by the caller's promise. Test: tests/runtime/test_c_function.py.
    let entry = unsafe { &*context.cast::<Entry>() };
    // SAFETY: as above.
    match catch_unwind(AssertUnwindSafe(|| unsafe { entry.run(inputs, outputs) })) {
        Ok(Ok(())) => 0,
        Ok(Err(_)) => 1,
        Err(_) => 2,
    }
}
