//! Kernels as data: the computations of native code.
//!
//! The values of a kernel are numbered. A loop has reads, literals and statements, in this order; a scan has loads,
//! literals, states and statements.

use crate::dtype::Dtype;
use crate::op::{Op, Reduction};

/// The computation of native code.
#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    Loop(LoopKernel),
    Scan(ScanKernel),
}

/// An operand; `inner`: it moves along the innermost dimension.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) dtype: Dtype,
    pub(crate) inner: bool,
}

/// A constant, as the bits of its type.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub(crate) dtype: Dtype,
    pub(crate) bits: u64,
}

/// An operand that is read at indices.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) dtype: Dtype,
    pub(crate) inner: bool,
    pub(crate) indices: usize,
}

/// The computation of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A scalar op.
    Op(Op),
    /// Result `at` of a loop of elements.
    Loop { of: usize, at: usize },
    /// An element of a source.
    Take(usize),
    /// The elements of the row so far, folded.
    Cumulate(Reduction),
    /// All elements of the row, folded into the first argument; the second is the folded value.
    Fold(Reduction),
}

/// A value that is computed; `operands` are the types that its arguments are converted to.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) action: Action,
    pub(crate) dtype: Dtype,
    pub(crate) operands: Vec<Dtype>,
    pub(crate) args: Vec<usize>,
}

/// An output.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) value: usize,
    pub(crate) dtype: Dtype,
    pub(crate) inner: bool,
    pub(crate) reduce: Option<Reduction>,
}

impl Write {
    pub(crate) fn walks(&self) -> bool {
        self.inner || self.reduce.is_some()
    }
}

/// An output that is written at indices.
#[derive(Clone, Debug)]
pub(crate) struct Put {
    pub(crate) value: usize,
    pub(crate) dtype: Dtype,
    pub(crate) inner: bool,
    pub(crate) reduce: Option<Reduction>,
    pub(crate) args: Vec<usize>,
}

/// One walk along the row, in numbers of values, writes and puts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pass {
    pub(crate) uniform: Vec<usize>,
    pub(crate) varying: Vec<usize>,
    pub(crate) reads: Vec<usize>,
    pub(crate) loads: Vec<usize>,
    pub(crate) stores: Vec<usize>,
    pub(crate) folds: Vec<usize>,
    pub(crate) writes: Vec<usize>,
    pub(crate) puts: Vec<usize>,
}

/// The body of a loop over elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopKernel {
    pub(crate) lanes: usize,
    pub(crate) takes_rows: bool,
    pub(crate) bodies: Vec<Body>,
    pub(crate) reads: Vec<Read>,
    pub(crate) literals: Vec<Literal>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) writes: Vec<Write>,
    pub(crate) sources: Vec<Source>,
    pub(crate) puts: Vec<Put>,
    pub(crate) passes: Vec<Pass>,
    pub(crate) buffers: Vec<usize>,
}

impl LoopKernel {
    /// The number of the first statement.
    pub(crate) fn first(&self) -> usize {
        self.reads.len() + self.literals.len()
    }

    /// The statement that is value `k`.
    pub(crate) fn at(&self, k: usize) -> &Statement {
        &self.statements[k - self.first()]
    }

    /// The type of value `k`.
    pub(crate) fn dtype(&self, k: usize) -> Dtype {
        let (reads, first) = (self.reads.len(), self.first());
        match k {
            k if k < reads => self.reads[k].dtype,
            k if k < first => self.literals[k - reads].dtype,
            _ => self.statements[k - first].dtype,
        }
    }

    /// The write that is the fold of a row, value `k`.
    pub(crate) fn fold_as_write(&self, k: usize) -> Option<Write> {
        let own = self.at(k);
        match own.action {
            Action::Fold(reduce) => Some(Write {
                value: own.args[1],
                dtype: own.dtype,
                inner: false,
                reduce: Some(reduce),
            }),
            _ => None,
        }
    }
}

/// One step of a loop that an element goes through: states, constants, literals, statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) states: Vec<Dtype>,
    pub(crate) constants: Vec<Dtype>,
    pub(crate) literals: Vec<Literal>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) constant: Vec<bool>,
    pub(crate) nexts: Vec<usize>,
    pub(crate) condition: Option<usize>,
}

impl Body {
    /// The number of the first statement.
    pub(crate) fn first(&self) -> usize {
        self.states.len() + self.constants.len() + self.literals.len()
    }

    /// The type of each value.
    pub(crate) fn dtypes(&self) -> Vec<Dtype> {
        let given = self.states.iter().chain(&self.constants).copied();
        let own = self.literals.iter().map(|literal| literal.dtype);
        given.chain(own).chain(self.statements.iter().map(|own| own.dtype)).collect()
    }

    /// The types of the operands: the number of steps, states, constants.
    pub(crate) fn operands(&self) -> Vec<Dtype> {
        let given = self.states.iter().chain(&self.constants).copied();
        std::iter::once(Dtype::Int64).chain(given).collect()
    }

    /// The types of the results.
    pub(crate) fn results(&self) -> Vec<Dtype> {
        let ended = self.condition.map(|_| Dtype::Bool);
        self.states.iter().copied().chain(ended).collect()
    }
}

/// An operand of `size` elements; where it `walks`, a row of them for each step.
#[derive(Clone, Debug)]
pub(crate) struct ScanRead {
    pub(crate) dtype: Dtype,
    pub(crate) size: usize,
    pub(crate) walks: bool,
}

/// One element of a state.
#[derive(Clone, Debug)]
pub(crate) struct StateElement {
    pub(crate) dtype: Dtype,
    pub(crate) start: usize,
    pub(crate) next: usize,
}

/// An output of a scan.
#[derive(Clone, Debug)]
pub(crate) struct ScanWrite {
    pub(crate) dtype: Dtype,
    pub(crate) walks: bool,
    pub(crate) values: Vec<usize>,
}

/// The step of a scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScanKernel {
    pub(crate) bodies: Vec<Body>,
    pub(crate) reads: Vec<ScanRead>,
    pub(crate) loads: Vec<(usize, usize)>,
    pub(crate) literals: Vec<Literal>,
    pub(crate) states: Vec<StateElement>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) constant: Vec<bool>,
    pub(crate) writes: Vec<ScanWrite>,
    pub(crate) condition: Option<usize>,
}

impl ScanKernel {
    /// The number of the first state.
    pub(crate) fn first_state(&self) -> usize {
        self.loads.len() + self.literals.len()
    }

    /// The number of the first statement.
    pub(crate) fn first(&self) -> usize {
        self.first_state() + self.states.len()
    }

    /// The type of each value.
    pub(crate) fn dtypes(&self) -> Vec<Dtype> {
        let loads = self.loads.iter().map(|&(read, _)| self.reads[read].dtype);
        loads
            .chain(self.literals.iter().map(|own| own.dtype))
            .chain(self.states.iter().map(|own| own.dtype))
            .chain(self.statements.iter().map(|own| own.dtype))
            .collect()
    }
}
