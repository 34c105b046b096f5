//! The instructions of a program.

use std::fmt;
use std::sync::Arc;

use frazil_core::DType;
use serde::{Deserialize, Serialize, Serializer};

use crate::arrays::scalar::Scalar;
use crate::arrays::search::Listed;
use crate::arrays::view::Index;
use crate::ids::{Origin, Size, Slot};
use crate::linalg::lapack::TriangularForm;
use crate::loops::fold::Fold;
use crate::loops::loop_nest::KernelFn;
use crate::program::foreign::Foreign;
use crate::program::nested::Inner;
use crate::run::recurrence::Recurrence;

/// One step of a program, and what to blame for its failure. In bytes, numbers stand for its
/// kernel `K` and its foreign function `F`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Instr<K = Kernel, F = Function> {
    pub(crate) kind: InstrKind<K, F>,
    pub(crate) origin: Option<Origin>,
    /// Whether where its results lie depends on more than the shapes of the inputs.
    #[serde(skip)]
    pub(crate) dynamic: bool,
}

/// What a step does. Results are slots; each is written by one instruction.
#[derive(Serialize, Deserialize)]
pub(crate) enum InstrKind<K = Kernel, F = Function> {
    Loop(Box<Loop<K>>),
    View {
        of: Slot,
        to: Slot,
        view: View,
    },
    /// `rest` is the axis that takes what the others leave.
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
    Gemm(Box<Gemm>),
    Cholesky {
        of: Slot,
        to: Slot,
        lower: bool,
    },
    /// The gradient of what was factored, given the lower factor and its gradient.
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
    },
    /// The factors of a matrix whose rows change places, and with which ones they do.
    Lu {
        of: Slot,
        to: Slot,
        pivots: Slot,
    },
    /// The solution of a system of equations, given the factors of its matrix.
    LuSolve {
        factors: Slot,
        pivots: Slot,
        b: Slot,
        to: Slot,
        transposed: bool,
    },
    /// `count` integers from `start` on, each larger by `step`.
    Range {
        start: Size,
        step: Size,
        count: Size,
        to: Slot,
    },
    Join {
        parts: Box<[Slot]>,
        to: Slot,
        axis: usize,
    },
    /// What is sorted along an axis: the elements, or the positions that sort them.
    Sort {
        of: Slot,
        to: Slot,
        axis: usize,
        positions: bool,
    },
    /// Where the largest or the smallest element along an axis is.
    Extreme {
        of: Slot,
        to: Slot,
        axis: usize,
        largest: bool,
    },
    /// How many positions [`InstrKind::List`] has to list.
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
    },
    Recurrence(Box<Recurrence<K>>),
    Call(Box<Call<F>>),
    Inner(Box<Inner>),
}

/// A collection of routines; that of LAPACK has those of BLAS in it.
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

/// The operands of `beta z + alpha a b`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Gemm {
    pub(crate) z: Slot,
    pub(crate) alpha: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) beta: Slot,
    pub(crate) to: Slot,
}

impl Gemm {
    /// What is read, in this order.
    pub(crate) fn operands(&self) -> [Slot; 5] {
        [self.z, self.alpha, self.a, self.b, self.beta]
    }
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
}

/// The code of a loop and what keeps it loaded.
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
    /// What a reduction starts from.
    pub(crate) identity: Option<Scalar>,
    /// How two of its results become one.
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

/// Element type and known lengths of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayType {
    /// The element type.
    pub dtype: DType,
    /// The length of each axis, where it is known.
    pub shape: Box<[Option<u64>]>,
}

impl ArrayType {
    /// The type of arrays of `dtype` and `shape`.
    pub fn new(dtype: DType, shape: &[Option<u64>]) -> ArrayType {
        ArrayType { dtype, shape: shape.into() }
    }

    /// Whether an array of these lengths has this type's shape.
    pub(crate) fn admits(&self, dims: &[i64]) -> bool {
        let fits =
            |(known, &given): (&Option<u64>, &i64)| known.is_none_or(|known| known == given as u64);
        self.shape.len() == dims.len() && self.shape.iter().zip(dims).all(fits)
    }

    /// The known lengths, as numbers of arrays.
    pub(crate) fn lengths(&self) -> Vec<Option<i64>> {
        self.shape.iter().map(|known| known.map(|known| known as i64)).collect()
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |dim: &Option<u64>| dim.map_or("?".to_owned(), |length| length.to_string());
        write!(f, "{}[{}]", self.dtype, list(self.shape.iter().map(known)))
    }
}

impl InstrKind {
    /// The slots that are read.
    pub(crate) fn reads(&self) -> Vec<Slot> {
        match self {
            InstrKind::Loop(code) => {
                let sources = code.sources.iter().map(|source| source.slot);
                let targets = code.targets.iter().map(|target| target.of);
                code.reads.iter().map(|read| read.slot).chain(sources).chain(targets).collect()
            }
            InstrKind::View { of, .. }
            | InstrKind::Reshape { of, .. }
            | InstrKind::Copy { of, .. }
            | InstrKind::Lu { of, .. }
            | InstrKind::Sort { of, .. }
            | InstrKind::Extreme { of, .. }
            | InstrKind::Count { of, .. }
            | InstrKind::List { of, .. }
            | InstrKind::Cholesky { of, .. } => vec![*of],
            InstrKind::LuSolve { factors, pivots, b, .. } => vec![*factors, *pivots, *b],
            InstrKind::Update { of, value, .. } => vec![*of, *value],
            InstrKind::Full { value, .. } => vec![*value],
            InstrKind::Dot { a, b, .. } | InstrKind::Solve { a, b, .. } => vec![*a, *b],
            InstrKind::Gemm(code) => code.operands().to_vec(),
            InstrKind::CholeskyGradient { factor, gradient, .. } => vec![*factor, *gradient],
            InstrKind::Join { parts, .. } => parts.to_vec(),
            InstrKind::Range { .. } | InstrKind::Scalar { .. } | InstrKind::RequireEqual { .. } => {
                vec![]
            }
            InstrKind::Recurrence(code) => code.reads.iter().map(|read| read.slot).collect(),
            InstrKind::Call(call) => call.inputs.to_vec(),
            InstrKind::Inner(code) => code.reads(),
        }
    }

    /// The slots that are made.
    pub(crate) fn writes(&self) -> Vec<Slot> {
        match self {
            InstrKind::Loop(code) => {
                let targets = code.targets.iter().map(|target| target.slot);
                code.writes.iter().map(|write| write.slot).chain(targets).collect()
            }
            InstrKind::View { to, .. }
            | InstrKind::Reshape { to, .. }
            | InstrKind::Copy { to, .. }
            | InstrKind::Update { to, .. }
            | InstrKind::Full { to, .. }
            | InstrKind::Dot { to, .. }
            | InstrKind::Cholesky { to, .. }
            | InstrKind::CholeskyGradient { to, .. }
            | InstrKind::Solve { to, .. }
            | InstrKind::LuSolve { to, .. }
            | InstrKind::Range { to, .. }
            | InstrKind::Join { to, .. }
            | InstrKind::Sort { to, .. }
            | InstrKind::Extreme { to, .. }
            | InstrKind::Count { to, .. }
            | InstrKind::Scalar { to, .. } => vec![*to],
            InstrKind::List { to, .. } => to.to_vec(),
            InstrKind::Lu { to, pivots, .. } => vec![*to, *pivots],
            InstrKind::Gemm(code) => vec![code.to],
            InstrKind::RequireEqual { .. } => vec![],
            InstrKind::Recurrence(code) => code.writes.iter().map(|write| write.slot).collect(),
            InstrKind::Call(call) => call.outputs.iter().map(|(slot, _)| *slot).collect(),
            InstrKind::Inner(code) => code.writes(),
        }
    }

    /// The sizes that are asked for.
    pub(crate) fn sizes(&self) -> Vec<Size> {
        fn of_indices(indices: &[Index<Size>]) -> Vec<Size> {
            let mut sizes = Vec::new();
            for index in indices {
                match *index {
                    Index::At(at) => sizes.push(at),
                    Index::Range { start, stop, step } => {
                        sizes.extend(start.into_iter().chain(stop).chain([step]));
                    }
                }
            }
            sizes
        }
        match self {
            InstrKind::Loop(code) => code.dims.to_vec(),
            InstrKind::View { view: View::BroadcastTo(dims), .. }
            | InstrKind::Reshape { dims, .. }
            | InstrKind::Full { dims, .. } => dims.to_vec(),
            InstrKind::View { view: View::Slice(view), .. } | InstrKind::Update { view, .. } => {
                of_indices(view)
            }
            InstrKind::Range { start, step, count, .. } => vec![*start, *step, *count],
            InstrKind::Scalar { size, .. } => vec![*size],
            InstrKind::List { count, .. } => vec![*count],
            InstrKind::Recurrence(code) => vec![code.steps],
            InstrKind::RequireEqual { a, b, .. } => vec![*a, *b],
            InstrKind::Inner(code) => code.sizes(),
            InstrKind::View { .. }
            | InstrKind::Copy { .. }
            | InstrKind::Dot { .. }
            | InstrKind::Gemm(_)
            | InstrKind::Cholesky { .. }
            | InstrKind::CholeskyGradient { .. }
            | InstrKind::Solve { .. }
            | InstrKind::Lu { .. }
            | InstrKind::LuSolve { .. }
            | InstrKind::Join { .. }
            | InstrKind::Sort { .. }
            | InstrKind::Extreme { .. }
            | InstrKind::Count { .. }
            | InstrKind::Call(_) => vec![],
        }
    }

    /// Which routines it calls itself of those that [`crate::set_routine`] gives.
    pub(crate) fn library(&self) -> Option<Library> {
        match self {
            InstrKind::Dot { .. }
            | InstrKind::Gemm(_)
            | InstrKind::Solve { .. }
            | InstrKind::LuSolve { .. } => Some(Library::Blas),
            InstrKind::Cholesky { .. }
            | InstrKind::CholeskyGradient { .. }
            | InstrKind::Lu { .. } => Some(Library::Lapack),
            InstrKind::Loop(_)
            | InstrKind::View { .. }
            | InstrKind::Reshape { .. }
            | InstrKind::Copy { .. }
            | InstrKind::Update { .. }
            | InstrKind::Full { .. }
            | InstrKind::Scalar { .. }
            | InstrKind::RequireEqual { .. }
            | InstrKind::Range { .. }
            | InstrKind::Join { .. }
            | InstrKind::Sort { .. }
            | InstrKind::Extreme { .. }
            | InstrKind::Count { .. }
            | InstrKind::List { .. }
            | InstrKind::Recurrence(_)
            | InstrKind::Call(_)
            | InstrKind::Inner(_) => None,
        }
    }

    /// The slot whose memory the result may share, with whether it always shares all of it.
    pub(crate) fn shares(&self) -> Option<(Slot, Slot, bool)> {
        match self {
            InstrKind::View { of, to, view } => {
                let whole =
                    !matches!(view, View::Slice(_) | View::BroadcastTo(_) | View::Diagonal { .. });
                Some((*of, *to, whole))
            }
            InstrKind::Reshape { of, to, .. } => Some((*of, *to, true)),
            _ => None,
        }
    }
}

/// A result that may be written over an operand.
pub(crate) struct Overwrite {
    pub(crate) of: Slot,
    pub(crate) to: Slot,
    /// The operands that must lie elsewhere then.
    pub(crate) others: Vec<Slot>,
}

impl InstrKind {
    /// The results that may be written over an operand, whatever the layout of that. What a loop
    /// writes position by position has its own way.
    pub(crate) fn overwrites(&self) -> Vec<Overwrite> {
        let (of, to, others) = match self {
            InstrKind::Loop(code) => return code.overwrites(),
            InstrKind::Update { of, to, value, .. } => (*of, *to, vec![*value]),
            InstrKind::Copy { of, to }
            | InstrKind::Cholesky { of, to, .. }
            | InstrKind::Lu { of, to, .. } => (*of, *to, vec![]),
            InstrKind::LuSolve { factors, pivots, b, to, .. } => (*b, *to, vec![*factors, *pivots]),
            InstrKind::Gemm(code) => (code.z, code.to, vec![code.alpha, code.a, code.b, code.beta]),
            InstrKind::CholeskyGradient { factor, gradient, to } => (*gradient, *to, vec![*factor]),
            InstrKind::Solve { a, b, to, .. } => (*b, *to, vec![*a]),
            _ => return Vec::new(),
        };
        vec![Overwrite { of, to, others }]
    }
}

impl<K> Loop<K> {
    /// Indices may lead anywhere at any time, so a target that is written over is read by nobody else
    /// in the loop.
    fn overwrites(&self) -> Vec<Overwrite> {
        let overwrite = |(at, target): (usize, &LoopTarget)| {
            let targets = self.targets.iter().enumerate();
            let apart = targets.filter(|(other, _)| *other != at).map(|(_, other)| other.of);
            let reads = self.reads.iter().map(|read| read.slot);
            let others = reads.chain(self.sources.iter().map(|source| source.slot)).chain(apart);
            Overwrite { of: target.of, to: target.slot, others: others.collect() }
        };
        self.targets.iter().enumerate().map(overwrite).collect()
    }
}

/// Writes things with commas between.
pub(crate) fn list<T: fmt::Display>(things: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = things.into_iter().map(|thing| thing.to_string()).collect();
    texts.join(", ")
}

impl fmt::Display for Index<Size> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |size: &Option<Size>| size.map_or(String::new(), |size| size.to_string());
        match self {
            Index::At(at) => write!(f, "{at}"),
            Index::Range { start, stop, step } => {
                write!(f, "{}:{}:{step}", bound(start), bound(stop))
            }
        }
    }
}

fn axes(axes: &[Option<usize>]) -> String {
    list(axes.iter().map(|axis| axis.map_or("_".to_owned(), |axis| axis.to_string())))
}

fn part(lower: bool) -> &'static str {
    if lower { "lower" } else { "upper" }
}

impl fmt::Display for InstrKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.writes().is_empty() {
            write!(f, "{} = ", list(self.writes()))?;
        }
        match self {
            InstrKind::Loop(code) => {
                write!(f, "loop k{}({})", code.kernel.number, list(&code.dims))?;
                for read in &code.reads {
                    write!(f, " {}[{}]", read.slot, axes(&read.axes))?;
                }
                for source in &code.sources {
                    let by = list(&source.indexed);
                    write!(f, " {}[{}] indexed along {by}", source.slot, axes(&source.axes))?;
                }
                f.write_str(" ->")?;
                for write in &code.writes {
                    write!(f, " [{}]", axes(&write.axes))?;
                    if let Some(identity) = &write.identity {
                        write!(f, " from {identity}")?;
                    }
                }
                for target in &code.targets {
                    let by = list(&target.indexed);
                    write!(f, " [{}] from {} indexed along {by}", axes(&target.axes), target.of)?;
                }
                match &code.rows {
                    None => Ok(()),
                    Some(buffers) if buffers.is_empty() => f.write_str(" by rows"),
                    Some(buffers) => write!(f, " by rows, buffers {}", list(buffers)),
                }
            }
            InstrKind::View { of, view, .. } => match view {
                View::Transpose(axes) => write!(f, "transpose {of} [{}]", list(axes)),
                View::ExpandDims(axes) => write!(f, "expand_dims {of} [{}]", list(axes)),
                View::DropDims(axes) => write!(f, "drop_dims {of} [{}]", list(axes)),
                View::BroadcastTo(dims) => write!(f, "broadcast_to {of} ({})", list(dims)),
                View::Slice(view) => write!(f, "slice {of} [{}]", list(view)),
                View::Diagonal { axes, offset } => {
                    write!(f, "diagonal {of} [{}] {offset}", list(axes))
                }
            },
            InstrKind::Reshape { of, dims, .. } => write!(f, "reshape {of} ({})", list(dims)),
            InstrKind::Copy { of, .. } => write!(f, "copy {of}"),
            InstrKind::Update { of, view, value, accumulate, .. } => {
                let verb = if *accumulate { "increment" } else { "set" };
                write!(f, "{verb} {of} [{}] {value}", list(view))
            }
            InstrKind::Full { value, dims, .. } => write!(f, "full {value} ({})", list(dims)),
            InstrKind::Dot { a, b, .. } => write!(f, "dot {a} {b}"),
            InstrKind::Gemm(code) => write!(f, "gemm {}", list(code.operands())),
            InstrKind::Cholesky { of, lower, .. } => {
                write!(f, "cholesky {of} {}", part(*lower))
            }
            InstrKind::CholeskyGradient { factor, gradient, .. } => {
                write!(f, "cholesky_gradient {factor} {gradient}")
            }
            InstrKind::Solve { a, b, form, .. } => {
                write!(f, "solve {a} {b} {}", part(form.lower))?;
                let marks = [(form.transposed, " transposed"), (form.unit, " unit")];
                marks.iter().filter(|(set, _)| *set).try_for_each(|(_, mark)| f.write_str(mark))
            }
            InstrKind::Lu { of, .. } => write!(f, "lu {of}"),
            InstrKind::LuSolve { factors, pivots, b, transposed, .. } => {
                let mark = if *transposed { " transposed" } else { "" };
                write!(f, "lu_solve {factors} {pivots} {b}{mark}")
            }
            InstrKind::Range { start, step, count, .. } => {
                write!(f, "range {start} {step} {count}")
            }
            InstrKind::Join { parts, axis, .. } => write!(f, "join {} [{axis}]", list(parts)),
            InstrKind::Sort { of, axis, positions, .. } => {
                write!(f, "{} {of} [{axis}]", if *positions { "argsort" } else { "sort" })
            }
            InstrKind::Extreme { of, axis, largest, .. } => {
                write!(f, "{} {of} [{axis}]", if *largest { "argmax" } else { "argmin" })
            }
            InstrKind::Count { of, listed, .. } => write!(f, "count {listed} {of}"),
            InstrKind::List { of, count, listed, .. } => write!(f, "list {listed} {of} {count}"),
            InstrKind::Scalar { size, .. } => write!(f, "scalar {size}"),
            InstrKind::RequireEqual { a, b, message } => {
                write!(f, "require {a} == {b} {message:?}")
            }
            InstrKind::Recurrence(code) => {
                write!(f, "recurrence k{}({})", code.kernel.number, code.steps)?;
                for read in &code.reads {
                    write!(f, " {}[{}]", read.slot, if read.walks { "t" } else { "" })?;
                }
                f.write_str(" ->")?;
                for write in &code.writes {
                    write!(f, " [{}]", if write.walks { "t" } else { "" })?;
                }
                if code.backwards { f.write_str(" backwards") } else { Ok(()) }
            }
            InstrKind::Call(call) => {
                write!(f, "call {} {}", call.function.foreign.name(), list(&call.inputs))
            }
            InstrKind::Inner(code) => code.fmt(f),
        }
    }
}
