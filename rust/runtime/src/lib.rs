//! Runs compiled tensor programs: buffers, sizes, native kernels, BLAS. It knows no Python.
//!
//! A [`Program`] is a flat list of instructions over slots, assembled by a [`Builder`]. Running it
//! has two halves: what the shapes of the inputs decide (sizes, strides, loop nests, where
//! temporaries lie) is *bound* once and found again for the next inputs of the same shapes; the run
//! itself then calls one kernel after another. What only values decide is bound on the way.
//!
//! What never happens: a program changes after it is built; a kernel sees memory that the runtime
//! did not check it against; two outputs, or an output and an input, share memory; a lock is held
//! while a kernel or foreign code runs.

mod arena;
mod array;
mod attention;
mod axis_lines;
mod batch;
mod bind;
mod blas;
mod buffer;
mod builder;
mod codec;
mod conduct;
mod crew;
mod error;
mod explain;
mod fold;
mod forecast;
mod foreign;
mod guard;
mod ids;
mod instr;
mod integer_dot;
mod lapack;
mod layout;
mod liveness;
mod loop_nest;
mod lu;
mod matrix;
mod memory;
mod near;
mod nested;
mod partials;
mod pool;
mod program;
mod recurrence;
mod repeat;
mod routine;
mod run;
mod scalar;
mod search;
mod size;
mod small;
mod sort;
mod spare;
mod split;
mod state;
mod step;
mod strided;
mod subrun;
mod triangle;
mod view;
mod walk;
mod watch;

pub use array::{ArrayRef, KeptArray, OutputSpec, OwnedArray, Owner};
pub use buffer::{ALIGNMENT, Buffer, allocated_bytes, take_peak_bytes};
pub use builder::{Builder, IndexedSpec, LoopSpec, WriteSpec};
pub use codec::{CodecError, KernelPart, KernelRef, Parts};
pub use conduct::{Conduct, default_threads};
pub use error::{BuildError, Error, ErrorClass, Fault, ForeignError, Operand, Subject};
pub use explain::Explained;
pub use fold::Fold;
pub use foreign::Foreign;
pub use ids::{Nested, Origin, Size, Slot};
pub use instr::{ArrayType, Library};
pub use lapack::TriangularForm;
pub use layout::{Axes, Layout};
pub use loop_nest::KernelFn;
pub use memory::{Location, MemoryPlan, PlannedBranch, PlannedBuffer};
pub use nested::{Lengths, Next, RepeatSpec, Repeated};
pub use partials::kernel_function;
pub use pool::LargeBuffer;
pub use program::{Bindings, Program};
pub use recurrence::{Carry, RecurrenceSpec};
pub use routine::{Integers, Routine, set_routine};
pub use run::Run;
pub use scalar::Scalar;
pub use search::Listed;
pub use size::SizeOp;
pub use view::Index;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("lengths and strides are 64-bit: a 64-bit platform is needed");
