//! Runs compiled tensor programs: buffers, sizes, native kernels, BLAS. It knows no Python.
//!
//! A [`Program`] is a flat list of instructions over slots, assembled by a [`Builder`]. Running it
//! has two halves. All that the shapes of the inputs decide (sizes, strides, loop nests, places of
//! temporaries) is *bound* once and found again for the next inputs of the same shapes. The run
//! itself then calls one kernel after another. What only values decide is bound during the run.
//!
//! What never happens: a program changes after it is built; a kernel sees memory that the runtime
//! did not check it against; two outputs, or an output and an input, share memory; a lock is held
//! while a kernel or foreign code runs.

mod allocation;
mod arrays;
mod draws;
mod error;
mod ids;
mod linalg;
mod loops;
mod processor;
mod program;
mod report;
mod run;
mod threads;

pub use allocation::buffer::{ALIGNMENT, Buffer, allocated_bytes, take_peak_bytes};
pub use allocation::pool::LargeBuffer;
pub use arrays::array::{ArrayRef, KeptArray, OutputSpec, OwnedArray, Owner};
pub use arrays::layout::{Axes, Layout};
pub use arrays::scalar::Scalar;
pub use arrays::search::Listed;
pub use arrays::sort::set_sorter;
pub use arrays::view::Index;
pub use draws::distribution::{Distribution, set_sampler};
pub use draws::generator::{BitFunctions, BitGenerator, set_bit_generator};
pub use error::{BuildError, Error, ErrorClass, Fault, ForeignError, Operand, Subject};
pub use ids::{Nested, Origin, Size, Slot};
pub use linalg::bands::BandForm;
pub use linalg::decompositions::Decomposition;
pub use linalg::lapack::{OnError, TriangularForm};
pub use linalg::routine::{Integers, Routine, set_routine};
pub use loops::fold::Fold;
pub use loops::kernel_functions::kernel_function;
pub use loops::loop_nest::KernelFn;
pub use loops::partials::{LEVELS, SETS, TURNS};
pub use loops::recipe::{Operation, OperationId};
pub use loops::tiles::TILE;
pub use loops::typed::recipe;
pub use processor::{has_quick_functions, register_limit, vector_bits};
pub use program::Program;
pub use program::array_type::ArrayType;
pub use program::builder::{Builder, IndexedSpec, LoopSpec, ShortKernel, WriteSpec};
pub use program::codec::{CodecError, KernelPart, KernelRef, Parts};
pub use program::foreign::Foreign;
pub use program::instr::Library;
pub use program::nested::{Lengths, Next, ScanSpec, Scanned};
pub use program::scan_kernel::{Carry, ScanKernelSpec};
pub use program::size::SizeOp;
pub use report::explain::Explained;
pub use report::memory::{Location, MemoryPlan, PlannedBranch, PlannedBuffer};
pub use run::Run;
pub use run::entry::{Entry, EntryFn};
pub use run::executable::Bindings;
pub use threads::conduct::{Conduct, default_threads, given_threads};

/// Has forks wait for the locks of the runtime. The thread pool and idle states need none: the child makes its own.
pub fn watch_forks() {
    frazil_core::fork::add_lasting(&allocation::pool::LargeOutputs);
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("lengths and strides are 64-bit: a 64-bit platform is needed");
