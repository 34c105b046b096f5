//! The stages of a pass. Functions of floats are called for many elements at a time, so a pass that
//! calls functions goes along the row in chunks: all elements of a chunk go through one stage, then
//! functions are called for them, then comes the next stage. Values for a later stage wait on the stack. A function
//! that is written into the loop over elements begins no stage.

use crate::dtype::Dtype;
use crate::kernel::{Action, LoopKernel, Pass};
use std::collections::BTreeMap;

/// The place of an operand of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OperandPlace {
    /// In the elements of a read.
    Read(usize),
    /// In the buffer of a value.
    Buffer(usize),
    /// On the stack: the value itself.
    Value(usize),
    /// On the stack: the value as the type that the function takes, for operand `at` of it.
    Operand { of: usize, at: usize },
    /// On the stack: what a put puts where indices say, as its type.
    Put(usize),
    /// Nowhere: it is the same for all elements.
    Nowhere,
}

/// A call of a function after a stage.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) value: usize,
    pub(crate) from: Vec<OperandPlace>,
}

/// The work of each stage.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    /// The statements that are computed in each stage, and the calls after it.
    pub(crate) computed: Vec<Vec<usize>>,
    pub(crate) calls: Vec<Vec<Call>>,
    /// A value on the stack, and its type.
    pub(crate) kept: BTreeMap<OperandPlace, Dtype>,
    /// The stage from which on a value is there.
    from: BTreeMap<usize, usize>,
}

impl Stages {
    /// The stages of a pass, where `inlined` says which functions are computed as other values are, and `called` which
    /// loops are called as functions are.
    pub(crate) fn of(
        kernel: &LoopKernel,
        pass: &Pass,
        inlined: impl Fn(usize) -> bool,
        called: impl Fn(usize) -> bool,
    ) -> Stages {
        let mut made = Stages::default();
        let mut uses: Vec<(usize, usize)> = Vec::new();
        let mut functions: Vec<usize> = Vec::new();
        for &k in &pass.varying {
            let own = kernel.at(k);
            let at = own.args.iter().map(|&a| made.stage(a)).max().unwrap_or(0);
            let is_function = match own.action {
                Action::Op(op) => op.is_function(own.dtype) && !inlined(k),
                Action::Loop { .. } => called(k),
                _ => false,
            };
            made.reach(at + usize::from(is_function));
            if is_function {
                functions.push(k);
                made.from.insert(k, at + 1);
            } else {
                made.computed[at].push(k);
                made.from.insert(k, at);
                uses.extend(own.args.iter().map(|&a| (a, at)));
            }
        }
        made.reach(0);
        let last = made.computed.len() - 1;
        uses.extend(pass.writes.iter().map(|&w| (kernel.writes[w].value, last)));
        uses.extend(pass.stores.iter().map(|&k| (k, last)));
        uses.extend(pass.folds.iter().map(|&k| (kernel.at(k).args[1], last)));
        for &k in &functions {
            let at = made.from[&k] - 1;
            uses.extend(kernel.at(k).args.iter().map(|&a| (a, at)));
        }
        for &put in &pass.puts {
            let put = &kernel.puts[put];
            uses.extend(put.args.iter().chain([&put.value]).map(|&a| (a, last)));
        }
        for (k, at) in uses {
            if made.from.get(&k).is_some_and(|&from| from < at) {
                made.kept.insert(OperandPlace::Value(k), kernel.dtype(k));
            }
        }
        for k in functions {
            made.add_call(kernel, pass, k);
        }
        made
    }

    /// The last stage, in which everything is written and folded.
    pub(crate) fn last(&self) -> usize {
        self.computed.len() - 1
    }

    /// The stage from which on a value is there; a function's is the one after its call.
    pub(crate) fn stage(&self, k: usize) -> usize {
        self.from.get(&k).copied().unwrap_or(0)
    }

    /// Whether a stage finds the value on the stack.
    pub(crate) fn waits(&self, k: usize, stage: usize) -> bool {
        self.kept.contains_key(&OperandPlace::Value(k))
            && (self.stage(k) < stage || self.is_called(k))
    }

    fn is_called(&self, k: usize) -> bool {
        self.from.contains_key(&k) && !self.computed.iter().any(|own| own.contains(&k))
    }

    fn reach(&mut self, stage: usize) {
        while self.computed.len() <= stage {
            self.computed.push(Vec::new());
            self.calls.push(Vec::new());
        }
    }

    fn add_call(&mut self, kernel: &LoopKernel, pass: &Pass, k: usize) {
        let own = kernel.at(k);
        let at = self.from[&k] - 1;
        let mut from = Vec::new();
        let is_loop = matches!(own.action, Action::Loop { .. });
        for (place, &a) in own.args.iter().enumerate() {
            // A loop changes its operands.
            let alike = kernel.dtype(a) == own.operands[place] && !is_loop;
            from.push(match a {
                _ if is_loop && place == 0 => OperandPlace::Nowhere,
                a if alike && pass.reads.contains(&a) => OperandPlace::Read(a),
                a if alike && pass.loads.contains(&a) => OperandPlace::Buffer(a),
                a if alike
                    && self.kept.contains_key(&OperandPlace::Value(a))
                    && self.stage(a) <= at =>
                {
                    OperandPlace::Value(a)
                }
                _ => {
                    let made = OperandPlace::Operand { of: k, at: place };
                    self.kept.insert(made, own.operands[place]);
                    made
                }
            });
        }
        self.kept.insert(OperandPlace::Value(k), own.dtype);
        self.calls[at].push(Call { value: k, from });
    }
}
