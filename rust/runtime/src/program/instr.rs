//! The instructions of a program.

use std::sync::Arc;

use frazil_core::DType;
use serde::{Deserialize, Serialize, Serializer};

use crate::arrays::scalar::Scalar;
use crate::arrays::search::Listed;
use crate::arrays::view::Index;
use crate::draws::distribution::Distribution;
use crate::ids::{Origin, Size, Slot};
use crate::linalg::bands::BandForm;
use crate::linalg::decompositions::Decomposition;
use crate::linalg::lapack::{OnError, TriangularForm};
use crate::loops::fold::Fold;
use crate::loops::loop_nest::KernelFn;
use crate::program::array_type::ArrayType;
use crate::program::foreign::Foreign;
use crate::program::nested::Inner;
use crate::program::scan_kernel::ScanKernel;

/// One step of a program, and the origin to blame for its failure. In bytes, numbers stand for its
/// kernel `K` and its foreign function `F`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Instr<K = Kernel, F = Function> {
    pub(crate) kind: InstrKind<K, F>,
    pub(crate) origin: Option<Origin>,
    /// Whether where its results lie depends on more than the shapes of the inputs.
    #[serde(skip)]
    pub(crate) dynamic: bool,
}

/// The operation of a step. Results are slots; each is written by one instruction.
#[derive(Serialize, Deserialize)]
pub(crate) enum InstrKind<K = Kernel, F = Function> {
    Loop(Box<Loop<K>>),
    View {
        of: Slot,
        to: Slot,
        view: View,
    },
    /// `rest` is the axis that takes the elements that the others leave.
    Reshape {
        of: Slot,
        to: Slot,
        dims: Box<[Size]>,
        rest: Option<usize>,
    },
    Copy {
        of: Slot,
        to: Slot,
    },
    Update {
        of: Slot,
        to: Slot,
        view: Box<[Index<Size>]>,
        value: Slot,
        accumulate: bool,
    },
    Full {
        value: Slot,
        to: Slot,
        dims: Box<[Size]>,
    },
    Dot {
        a: Slot,
        b: Slot,
        to: Slot,
    },
    /// `beta z + alpha a b`.
    Gemm {
        /// `z`, `alpha`, `a`, `b` and `beta`.
        operands: Box<[Slot; 5]>,
        to: Slot,
    },
    Cholesky {
        of: Slot,
        to: Slot,
        lower: bool,
        on_error: OnError,
    },
    /// The gradient of the factored matrix, given the lower factor and its gradient.
    CholeskyGradient {
        factor: Slot,
        gradient: Slot,
        to: Slot,
    },
    Solve {
        a: Slot,
        b: Slot,
        to: Slot,
        form: TriangularForm,
        on_error: OnError,
    },
    /// The factors of a matrix whose rows change places, and with which ones they do.
    Lu {
        of: Slot,
        to: Slot,
        pivots: Slot,
        /// Where each row of the matrix is in the product of the factors. Matrices that need not be
        /// square have these.
        places: Option<Slot>,
    },
    /// The solution of a system of equations, given the factors of its matrix.
    LuSolve {
        factors: Slot,
        pivots: Slot,
        b: Slot,
        to: Slot,
        transposed: bool,
        on_error: OnError,
    },
    /// The solution of a system of equations whose matrix has elements in a few diagonals.
    BandSolve {
        a: Slot,
        b: Slot,
        to: Slot,
        form: BandForm,
        on_error: OnError,
    },
    /// The decomposition of a matrix.
    Decompose {
        of: Slot,
        to: Box<[Slot]>,
        what: Decomposition,
        on_error: OnError,
    },
    /// `count` integers from `start` on, each larger by `step`.
    Range {
        start: Size,
        step: Size,
        count: Size,
        to: Slot,
    },
    /// The number of terms of a progression that stops before `stop`.
    CountTerms {
        start: Slot,
        stop: Slot,
        step: Slot,
        to: Slot,
    },
    /// `count` terms of the progression from `start` on.
    Terms {
        start: Slot,
        step: Slot,
        count: Size,
        to: Slot,
    },
    Join {
        parts: Box<[Slot]>,
        to: Slot,
        axis: usize,
    },
    /// The elements in order along an axis, or the positions that sort them.
    Sort {
        of: Slot,
        to: Slot,
        axis: usize,
        positions: bool,
    },
    /// The position of the largest or the smallest element along an axis.
    Extreme {
        of: Slot,
        to: Slot,
        axis: usize,
        largest: bool,
    },
    /// The number of positions that [`InstrKind::List`] lists.
    Count {
        of: Slot,
        to: Slot,
        listed: Listed,
    },
    /// `count` positions, a vector for each axis.
    List {
        of: Slot,
        to: Box<[Slot]>,
        count: Size,
        listed: Listed,
    },
    Scalar {
        size: Size,
        to: Slot,
    },
    RequireEqual {
        a: Size,
        b: Size,
        message: Box<str>,
        of_index: bool,
    },
    /// Stops the run where `holds` is 0: by an assertion's error, or by one about a value.
    Check {
        holds: Size,
        message: Box<str>,
        asserted: bool,
    },
    ScanKernel(Box<ScanKernel<K>>),
    Call(Box<Call<F>>),
    Inner(Box<Inner>),
    Draw(Box<Draw>),
}

/// A collection of routines; LAPACK's has the routines of BLAS in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Library {
    /// Products and triangular systems.
    Blas,
    /// Factors of matrices.
    Lapack,
}

/// Another look at the elements of a slot.
#[derive(Serialize, Deserialize)]
pub(crate) enum View {
    Transpose(Box<[usize]>),
    ExpandDims(Box<[usize]>),
    DropDims(Box<[usize]>),
    BroadcastTo(Box<[Size]>),
    Slice(Box<[Index<Size>]>),
    /// The elements whose position along the second axis is larger by `offset`, as a last axis.
    Diagonal {
        axes: [usize; 2],
        offset: i64,
    },
}

/// Random numbers in an array of `dims`, and the state of the generator after them.
#[derive(Serialize, Deserialize)]
pub(crate) struct Draw {
    pub(crate) distribution: Distribution,
    pub(crate) state: Slot,
    pub(crate) parameters: Box<[Slot]>,
    pub(crate) dims: Box<[Size]>,
    pub(crate) next: Slot,
    pub(crate) to: Slot,
}

/// A native kernel over all positions of `dims`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Loop<K = Kernel> {
    pub(crate) kernel: K,
    pub(crate) dims: Box<[Size]>,
    pub(crate) reads: Box<[LoopRead]>,
    pub(crate) writes: Box<[LoopWrite]>,
    pub(crate) sources: Box<[LoopSource]>,
    pub(crate) targets: Box<[LoopTarget]>,
    /// Given where the kernel takes whole rows: the element types of the row buffers it needs.
    pub(crate) rows: Option<Box<[DType]>>,
    pub(crate) short: Option<Box<Short<K>>>,
}

/// The loop that runs instead if the last dimension is short.
#[derive(Serialize, Deserialize)]
pub(crate) struct Short<K = Kernel> {
    /// The highest length that is short.
    pub(crate) limit: i64,
    /// The same loop with its last two dimensions swapped, and a kernel for that.
    pub(crate) code: Loop<K>,
}

impl Loop {
    /// The operation for these lengths, and the lengths as the operation takes them.
    pub(crate) fn chosen<D: AsMut<[i64]>>(&self, mut dims: D) -> (&Loop, D) {
        if let (Some(short), [.., before, last]) = (&self.short, dims.as_mut())
            && (1..=short.limit).contains(last)
            && *last < *before
        {
            std::mem::swap(before, last);
            return (&short.code, dims);
        }
        (self, dims)
    }
}

/// The code of a loop and the owner that keeps it loaded.
pub(crate) struct Kernel {
    pub(crate) function: KernelFn,
    /// Kernels are numbered in the order of their first use; addresses would differ from run to
    /// run.
    pub(crate) number: u32,
    pub(crate) keep: Box<dyn std::any::Any + Send + Sync>,
}

impl Serialize for Kernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.number)
    }
}

/// A slot that a loop reads: for each loop dimension its axis, `None` where it stays.
#[derive(Serialize, Deserialize)]
pub(crate) struct LoopRead {
    pub(crate) slot: Slot,
    pub(crate) axes: Box<[Option<usize>]>,
}

/// A slot that a loop makes: for each loop dimension its axis, `None` where it is reduced over.
#[derive(Serialize, Deserialize)]
pub(crate) struct LoopWrite {
    pub(crate) slot: Slot,
    pub(crate) dtype: DType,
    pub(crate) axes: Box<[Option<usize>]>,
    /// The start of a reduction.
    pub(crate) identity: Option<Scalar>,
    /// The fold of two of its results.
    pub(crate) fold: Option<Fold>,
}

/// A slot that a loop reads where indices say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoopSource {
    pub(crate) slot: Slot,
    /// For each loop dimension the axis that moves along it.
    pub(crate) axes: Box<[Option<usize>]>,
    /// The axes that indices move along.
    pub(crate) indexed: Box<[usize]>,
}

/// A slot that a loop makes of another by writing to it where indices say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoopTarget {
    pub(crate) slot: Slot,
    pub(crate) of: Slot,
    pub(crate) axes: Box<[Option<usize>]>,
    pub(crate) indexed: Box<[usize]>,
    /// Whether values are added to what is there.
    pub(crate) adds: bool,
}

/// The call of a foreign function.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call<F = Function> {
    pub(crate) function: F,
    pub(crate) inputs: Box<[Slot]>,
    pub(crate) outputs: Box<[(Slot, ArrayType)]>,
}

/// A foreign function, and which of the program's calls is the one of it.
pub(crate) struct Function {
    pub(crate) foreign: Arc<dyn Foreign>,
    pub(crate) number: u32,
}

impl Serialize for Function {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.number)
    }
}
