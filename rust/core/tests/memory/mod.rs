//! A plain slow model of what nodes do to memory, and random small graphs to run in it.
//!
//! Memory is cells with a version each. A variable is some cells with the versions that they had when it was computed;
//! it can be read while they still have them. Writing over an input raises the version of all its cells.

#![allow(dead_code)]

use std::collections::{HashMap, HashSet};

use frazil_core::node::traverse::toposort;
use frazil_core::{
    Body, Container, DType, Node, Op, OpKey, OpProps, Origin, Param, Signature, Ty, Var, WeakScalar,
};
use proptest::prelude::*;

/// An op for tests: its name says what it does.
pub fn op(name: &str, props: OpProps) -> Op {
    let key = OpKey {
        kind: format!("memory.{name}"),
        params: Param::None,
        props,
        rule: None,
        arity: None,
    };
    Op::intern(key, name)
}

fn props() -> OpProps {
    OpProps { pure: true, ..OpProps::default() }
}

pub fn add() -> Op {
    op("add", props())
}

/// Names its output as a view of what it writes over, too.
pub fn set_viewing() -> Op {
    let map = || vec![(0, vec![0])];
    op("set_viewing", OpProps { view_map: map(), destroy_map: map(), ..props() })
}

/// Copes with its second input being its first, if either is written over.
pub fn add_same() -> Op {
    op("add_same", OpProps { destroy_tolerates_same: vec![(0, 1), (1, 0)], ..props() })
}

pub fn view() -> Op {
    op("view", OpProps { view_map: vec![(0, vec![0])], ..props() })
}

/// A view of one of two inputs.
pub fn either() -> Op {
    op("either", OpProps { view_map: vec![(0, vec![0, 1])], ..props() })
}

/// Two outputs, of which the second views the input.
pub fn pair() -> Op {
    op("pair", OpProps { view_map: vec![(1, vec![0])], ..props() })
}

/// A buffer of its own, though its op calls itself a view.
pub fn fresh() -> Op {
    op("fresh", OpProps { view_map: vec![(0, vec![0])], distinct: true, ..props() })
}

pub fn set() -> Op {
    op("set", OpProps { destroy_map: vec![(0, vec![0])], ..props() })
}

pub fn set_same() -> Op {
    let destroy_tolerates_same = vec![(0, 1)];
    op("set_same", OpProps { destroy_map: vec![(0, vec![0])], destroy_tolerates_same, ..props() })
}

pub fn set_aliased() -> Op {
    let destroy_tolerates_aliased = vec![(0, 1)];
    let destroy_map = vec![(0, vec![0])];
    op("set_aliased", OpProps { destroy_map, destroy_tolerates_aliased, ..props() })
}

/// Writes each of two outputs over an input.
pub fn set_both() -> Op {
    op("set_both", OpProps { destroy_map: vec![(0, vec![0]), (1, vec![1])], ..props() })
}

/// Writes one output over two inputs.
pub fn merge() -> Op {
    op("merge", OpProps { destroy_map: vec![(0, vec![0, 1])], ..props() })
}

/// Writes one output over the first input; the other views the second.
pub fn set_and_view() -> Op {
    let (view_map, destroy_map) = (vec![(1, vec![1])], vec![(0, vec![0])]);
    op("set_and_view", OpProps { view_map, destroy_map, ..props() })
}

/// The ops that destroy nothing, with their numbers of inputs and outputs.
pub fn pure_ops() -> Vec<(Op, usize, usize)> {
    vec![
        (add(), 2, 1),
        (add_same(), 2, 1),
        (view(), 1, 1),
        (either(), 2, 1),
        (pair(), 1, 2),
        (fresh(), 1, 1),
    ]
}

/// All ops.
pub fn ops() -> Vec<(Op, usize, usize)> {
    let mut ops = pure_ops();
    ops.extend([
        (set(), 2, 1),
        (set_viewing(), 2, 1),
        (set_same(), 2, 1),
        (set_aliased(), 2, 1),
        (set_both(), 2, 2),
        (merge(), 2, 1),
        (set_and_view(), 2, 2),
    ]);
    ops
}

pub fn ty() -> Ty {
    Ty::tensor(DType::Float64, &[Some(3)])
}

pub fn apply(container: &Container, op: Op, inputs: &[&Var], outputs: usize) -> Vec<Var> {
    let inputs = inputs.iter().map(|&input| input.clone()).collect();
    let signature = Signature::new(&vec![ty(); outputs]);
    let node = container.apply(op, inputs, signature, Origin::default()).unwrap();
    node.outputs().collect()
}

/// `apply` for ops with one output.
pub fn one(container: &Container, op: Op, inputs: &[&Var]) -> Var {
    apply(container, op, inputs, 1).remove(0)
}

pub fn input(container: &Container, name: &str) -> Var {
    container.input(&ty(), Some(name), None)
}

/// A random graph: each entry applies an op to earlier variables; the rest picks variables.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub steps: Vec<(usize, usize, usize)>,
    pub outputs: Vec<usize>,
    pub protected: Vec<usize>,
    pub donated: Vec<bool>,
    pub candidates: Vec<(usize, usize, usize)>,
}

pub fn recipe(steps: usize) -> impl Strategy<Value = Recipe> {
    (
        prop::collection::vec(any::<(usize, usize, usize)>(), 1..=steps),
        prop::collection::vec(any::<usize>(), 0..2),
        prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(any::<usize>(), 1)],
        prop::collection::vec(any::<bool>(), 3),
        prop::collection::vec(any::<(usize, usize, usize)>(), 0..14),
    )
        .prop_map(|(steps, outputs, protected, donated, candidates)| Recipe {
            steps,
            outputs,
            protected,
            donated,
            candidates,
        })
}

pub struct Graph {
    pub leaves: Vec<Var>,
    pub vars: Vec<Var>,
    pub outputs: Vec<Var>,
    pub protected: Vec<Var>,
}

/// The graph of a recipe: two inputs, a constant, then the steps; the last variable is an output.
pub fn build(container: &Container, ops: &[(Op, usize, usize)], recipe: &Recipe) -> Graph {
    let constant = WeakScalar::Float(1.0).constant(DType::Float64).unwrap();
    let leaves = vec![input(container, "x"), input(container, "y"), container.constant(constant)];
    let mut vars = leaves.clone();
    for &(which, left, right) in &recipe.steps {
        let (op, inputs, outputs) = ops[which % ops.len()].clone();
        // Recent variables are the likelier operands, so that graphs are deep.
        let pick = |at: usize| {
            let window = if at.is_multiple_of(3) { vars.len() } else { vars.len().min(4) };
            vars[vars.len() - 1 - at / 3 % window].clone()
        };
        let operands = [pick(left), pick(right)];
        let operands: Vec<&Var> = operands[..inputs].iter().collect();
        let made = apply(container, op, &operands, outputs);
        vars.extend(made);
    }
    let mut outputs = vec![vars.last().unwrap().clone()];
    outputs.extend(recipe.outputs.iter().map(|at| vars[at % vars.len()].clone()));
    let protected = recipe.protected.iter().map(|at| vars[at % vars.len()].clone()).collect();
    Graph { leaves, vars, outputs, protected }
}

type Cells = HashSet<(usize, u32)>;

/// What a node writes over what, besides what its op says.
pub type Writes = HashMap<usize, Vec<(usize, usize)>>;

/// Memory while a graph runs.
#[derive(Clone)]
pub struct Memory<'m> {
    versions: Vec<u32>,
    fixed: HashSet<usize>,
    lives: HashMap<(usize, u32), Cells>,
    writes: &'m Writes,
}

impl<'m> Memory<'m> {
    /// Memory that holds these leaves, of which some may be written over.
    pub fn new(leaves: &[Var], may_write: impl Fn(&Var) -> bool, writes: &'m Writes) -> Memory<'m> {
        let mut memory =
            Memory { versions: vec![], fixed: HashSet::new(), lives: HashMap::new(), writes };
        for leaf in leaves {
            let cell = memory.fresh_cell();
            memory.lives.insert(leaf.identity(), HashSet::from([(cell, 0)]));
            if leaf.constant().is_some() || !may_write(leaf) {
                memory.fixed.insert(cell);
            }
        }
        memory
    }

    fn fresh_cell(&mut self) -> usize {
        self.versions.push(0);
        self.versions.len() - 1
    }

    pub fn cells(&self, var: &Var) -> &Cells {
        &self.lives[&var.identity()]
    }

    pub fn knows(&self, var: &Var) -> bool {
        self.lives.contains_key(&var.identity())
    }

    pub fn readable(&self, var: &Var) -> bool {
        self.cells(var).iter().all(|&(cell, version)| self.versions[cell] == version)
    }

    /// Runs a node; false if it reads what is gone or writes where it must not.
    pub fn run(&mut self, node: &Node) -> bool {
        let Body::Apply { op, inputs, distinct } = node.body() else { panic!("not a step") };
        let props = &op.key().props;
        if !inputs.iter().all(|input| self.readable(input)) {
            return false;
        }
        let mut writes: Vec<(usize, usize)> = props
            .destroy_map
            .iter()
            .flat_map(|(output, inputs)| inputs.iter().map(|&i| (*output as usize, i as usize)))
            .collect();
        writes.extend(self.writes.get(&node.address()).into_iter().flatten());
        let mut written = HashSet::new();
        for &(_, input) in &writes {
            for &(cell, _) in &self.cells(&inputs[input]).clone() {
                if self.fixed.contains(&cell) || !written.insert(cell) {
                    return false;
                }
            }
            for (other, var) in inputs.iter().enumerate() {
                let pair = (input as u32, other as u32);
                let tolerated = props.destroy_tolerates_aliased.contains(&pair)
                    || props.destroy_tolerates_same.contains(&pair) && *var == inputs[input];
                let shared = !self.cells(var).is_disjoint(self.cells(&inputs[input]));
                if other != input && shared && !tolerated {
                    return false;
                }
            }
        }
        let operands: Vec<Cells> = inputs.iter().map(|input| self.cells(input).clone()).collect();
        written.iter().for_each(|&cell| self.versions[cell] += 1);
        for output in node.outputs() {
            let over: Vec<usize> =
                writes.iter().filter(|(at, _)| *at == output.index()).map(|&(_, at)| at).collect();
            let mut cells = Cells::new();
            for &input in &over {
                let now = |&(cell, _): &(usize, u32)| (cell, self.versions[cell]);
                cells.extend(operands[input].iter().map(now));
            }
            if distinct.is_none() {
                let views = props.view_map.iter().filter(|(at, _)| *at as usize == output.index());
                let views = views.flat_map(|(_, inputs)| inputs).map(|&at| at as usize);
                for input in views.filter(|input| !over.contains(input)) {
                    cells.extend(&operands[input]);
                }
            }
            if cells.is_empty() {
                cells.insert((self.fresh_cell(), 0));
            }
            self.lives.insert(output.identity(), cells);
        }
        true
    }
}

/// What must hold when a graph has run.
pub struct Rules<'r> {
    pub outputs: &'r [Var],
    pub protected: &'r [Var],
}

impl Rules<'_> {
    pub fn kept(&self, memory: &Memory<'_>) -> bool {
        let protected = self.protected.iter().filter(|var| memory.knows(var));
        self.outputs.iter().chain(protected).all(|var| memory.readable(var))
    }
}

/// Whether this order runs.
pub fn runs<'n>(
    order: impl IntoIterator<Item = &'n Node>,
    mut memory: Memory<'_>,
    rules: &Rules<'_>,
) -> bool {
    order.into_iter().all(|node| {
        let ready = node.inputs().iter().all(|input| memory.knows(input));
        ready && memory.run(node)
    }) && rules.kept(&memory)
}

/// Whether any order runs: tries all.
pub fn some_order_runs(memory: &Memory<'_>, rules: &Rules<'_>) -> bool {
    let nodes = toposort(rules.outputs, &[]);
    assert!(nodes.len() < 32);
    // Which cells are written follows from the set of nodes that ran, so each set is tried once.
    let mut tried = HashSet::new();
    let mut pending = vec![(0u32, memory.clone())];
    while let Some((ran, memory)) = pending.pop() {
        if ran.count_ones() as usize == nodes.len() {
            if rules.kept(&memory) {
                return true;
            }
            continue;
        }
        for (at, node) in nodes.iter().enumerate() {
            let next = ran | 1 << at;
            let ready = node.inputs().iter().all(|input| memory.knows(input));
            if next == ran || !ready || tried.contains(&next) {
                continue;
            }
            let mut after = memory.clone();
            if after.run(node) {
                tried.insert(next);
                pending.push((next, after));
            }
        }
    }
    false
}

/// Makes other nodes, some of which are gone at once, so that ids and addresses differ.
pub fn noise(container: &Container, count: usize) -> Vec<Var> {
    let x = input(container, "noise");
    let mut kept: Vec<Var> = Vec::new();
    for at in 0..count {
        let made = one(container, fresh(), &[kept.last().unwrap_or(&x)]);
        if at % 3 == 0 {
            kept.push(made);
        }
    }
    kept
}
