//! The slots and sizes that instructions read, make, need and may write over.

use crate::arrays::view::Index;
use crate::ids::{Size, Slot};
use crate::program::instr::{InstrKind, Library, Loop, LoopTarget, View};

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
            | InstrKind::Decompose { of, .. }
            | InstrKind::Cholesky { of, .. } => vec![*of],
            InstrKind::LuSolve { factors, pivots, b, .. } => vec![*factors, *pivots, *b],
            InstrKind::Update { of, value, .. } => vec![*of, *value],
            InstrKind::Full { value, .. } => vec![*value],
            InstrKind::Dot { a, b, .. }
            | InstrKind::Solve { a, b, .. }
            | InstrKind::BandSolve { a, b, .. } => vec![*a, *b],
            InstrKind::Gemm { operands, .. } => operands.to_vec(),
            InstrKind::CholeskyGradient { factor, gradient, .. } => vec![*factor, *gradient],
            InstrKind::Join { parts, .. } => parts.to_vec(),
            InstrKind::CountTerms { start, stop, step, .. } => vec![*start, *stop, *step],
            InstrKind::Terms { start, step, .. } => vec![*start, *step],
            InstrKind::Draw(code) => {
                [code.state].into_iter().chain(code.parameters.iter().copied()).collect()
            }
            InstrKind::Range { .. }
            | InstrKind::Scalar { .. }
            | InstrKind::RequireEqual { .. }
            | InstrKind::Check { .. } => vec![],
            InstrKind::ScanKernel(code) => code.reads.iter().map(|read| read.slot).collect(),
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
            | InstrKind::Gemm { to, .. }
            | InstrKind::Cholesky { to, .. }
            | InstrKind::CholeskyGradient { to, .. }
            | InstrKind::Solve { to, .. }
            | InstrKind::LuSolve { to, .. }
            | InstrKind::BandSolve { to, .. }
            | InstrKind::Range { to, .. }
            | InstrKind::CountTerms { to, .. }
            | InstrKind::Terms { to, .. }
            | InstrKind::Join { to, .. }
            | InstrKind::Sort { to, .. }
            | InstrKind::Extreme { to, .. }
            | InstrKind::Count { to, .. }
            | InstrKind::Scalar { to, .. } => vec![*to],
            InstrKind::List { to, .. } | InstrKind::Decompose { to, .. } => to.to_vec(),
            InstrKind::Lu { to, pivots, places, .. } => {
                [*to, *pivots].into_iter().chain(*places).collect()
            }
            InstrKind::Draw(code) => vec![code.next, code.to],
            InstrKind::RequireEqual { .. } | InstrKind::Check { .. } => vec![],
            InstrKind::ScanKernel(code) => code.writes.iter().map(|write| write.slot).collect(),
            InstrKind::Call(call) => call.outputs.iter().map(|(slot, _)| *slot).collect(),
            InstrKind::Inner(code) => code.writes(),
        }
    }

    /// The sizes that layouts depend on. A position that an index picks is none: it moves only the
    /// start of the picked view.
    pub(crate) fn layout_sizes(&self) -> Vec<Size> {
        match self {
            InstrKind::View { view: View::Slice(view), .. } | InstrKind::Update { view, .. } => {
                let ranges = view.iter().filter(|index| !matches!(index, Index::At(_)));
                ranges.flat_map(sizes_of_index).collect()
            }
            _ => self.sizes(),
        }
    }

    /// The sizes that are asked for.
    pub(crate) fn sizes(&self) -> Vec<Size> {
        match self {
            InstrKind::Loop(code) => code.dims.to_vec(),
            InstrKind::View { view: View::BroadcastTo(dims), .. }
            | InstrKind::Reshape { dims, .. }
            | InstrKind::Full { dims, .. } => dims.to_vec(),
            InstrKind::View { view: View::Slice(view), .. } | InstrKind::Update { view, .. } => {
                view.iter().flat_map(sizes_of_index).collect()
            }
            InstrKind::Range { start, step, count, .. } => vec![*start, *step, *count],
            InstrKind::Scalar { size, .. } => vec![*size],
            InstrKind::List { count, .. } | InstrKind::Terms { count, .. } => vec![*count],
            InstrKind::ScanKernel(code) => vec![code.steps],
            InstrKind::Draw(code) => code.dims.to_vec(),
            InstrKind::RequireEqual { a, b, .. } => vec![*a, *b],
            InstrKind::Check { holds, .. } => vec![*holds],
            InstrKind::Inner(code) => code.sizes(),
            InstrKind::View { .. }
            | InstrKind::Copy { .. }
            | InstrKind::Dot { .. }
            | InstrKind::Gemm { .. }
            | InstrKind::Cholesky { .. }
            | InstrKind::CholeskyGradient { .. }
            | InstrKind::Solve { .. }
            | InstrKind::Lu { .. }
            | InstrKind::LuSolve { .. }
            | InstrKind::BandSolve { .. }
            | InstrKind::Decompose { .. }
            | InstrKind::Join { .. }
            | InstrKind::Sort { .. }
            | InstrKind::Extreme { .. }
            | InstrKind::Count { .. }
            | InstrKind::CountTerms { .. }
            | InstrKind::Call(_) => vec![],
        }
    }

    /// Whether it takes elements of any one number as they are, whatever their type.
    pub(crate) fn moves(&self) -> bool {
        matches!(
            self,
            InstrKind::Loop(_)
                | InstrKind::View { .. }
                | InstrKind::Reshape { .. }
                | InstrKind::Copy { .. }
                | InstrKind::Update { .. }
                | InstrKind::Full { .. }
                | InstrKind::Join { .. }
                | InstrKind::Call(_)
                | InstrKind::Inner(_)
        )
    }

    /// The routines of [`crate::set_routine`] that it calls itself.
    pub(crate) fn library(&self) -> Option<Library> {
        match self {
            InstrKind::Dot { .. }
            | InstrKind::Gemm { .. }
            | InstrKind::Solve { .. }
            | InstrKind::LuSolve { .. } => Some(Library::Blas),
            InstrKind::Cholesky { .. }
            | InstrKind::CholeskyGradient { .. }
            | InstrKind::BandSolve { .. }
            | InstrKind::Decompose { .. }
            | InstrKind::Lu { .. } => Some(Library::Lapack),
            InstrKind::Loop(_)
            | InstrKind::View { .. }
            | InstrKind::Reshape { .. }
            | InstrKind::Copy { .. }
            | InstrKind::Update { .. }
            | InstrKind::Full { .. }
            | InstrKind::Scalar { .. }
            | InstrKind::RequireEqual { .. }
            | InstrKind::Check { .. }
            | InstrKind::Range { .. }
            | InstrKind::CountTerms { .. }
            | InstrKind::Terms { .. }
            | InstrKind::Join { .. }
            | InstrKind::Sort { .. }
            | InstrKind::Extreme { .. }
            | InstrKind::Count { .. }
            | InstrKind::List { .. }
            | InstrKind::Draw(_)
            | InstrKind::ScanKernel(_)
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

fn sizes_of_index(index: &Index<Size>) -> impl Iterator<Item = Size> {
    let (first, rest) = match *index {
        Index::At(position) => (Some(position), [None, None]),
        Index::Range { start, stop, step } => (start, [stop, Some(step)]),
    };
    first.into_iter().chain(rest.into_iter().flatten())
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
            InstrKind::Gemm { operands, to } => (operands[0], *to, operands[1..].to_vec()),
            InstrKind::CholeskyGradient { factor, gradient, to } => (*gradient, *to, vec![*factor]),
            InstrKind::Solve { a, b, to, .. } | InstrKind::BandSolve { a, b, to, .. } => {
                (*b, *to, vec![*a])
            }
            _ => return Vec::new(),
        };
        vec![Overwrite { of, to, others }]
    }
}

impl<K> Loop<K> {
    /// Indices may lead anywhere at any time, so a target that is written over is read by nothing else
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
