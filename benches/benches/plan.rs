//! The in-place planner on 5,000 and on 80,000 candidates: `cargo bench --bench plan`.
//!
//! The time for one candidate should not grow with their number, whatever the shape of the graph: a chain, a chain
//! whose values are all read at the end (every accepted candidate changes the order), a chain and its gradient (every
//! forward step is refused because of a reader far away), one buffer that all steps would like, and a random graph.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use frazil_benches as _;
use frazil_core::order::destroy;
use frazil_core::order::plan::{Candidate, Request, plan};
use frazil_core::{Container, DType, Op, OpKey, OpProps, Origin, Param, Signature, Ty, Var};

const SIZES: [usize; 2] = [5_000, 80_000];

fn op(name: &str, destroy_map: Vec<(u32, Vec<u32>)>) -> Op {
    let props = OpProps { pure: true, destroy_map, ..OpProps::default() };
    let kind = format!("bench.{name}");
    Op::intern(OpKey { kind, params: Param::None, props, rule: None, arity: None }, name)
}

/// Makes a case of a size.
type Shape = fn(usize) -> Case;

struct Case {
    outputs: Vec<Var>,
    donated: Vec<Var>,
    candidates: Vec<Candidate>,
}

struct Builder {
    container: Container,
    add: Op,
    set: Op,
    ty: Ty,
}

impl Builder {
    fn new() -> Builder {
        Builder {
            container: Container::new(),
            add: op("add", vec![]),
            set: op("set", vec![(0, vec![0])]),
            ty: Ty::tensor(DType::Float64, &[None]),
        }
    }

    fn input(&self) -> Var {
        self.container.input(&self.ty, None, None)
    }

    fn apply(&self, op: &Op, left: &Var, right: &Var) -> Var {
        let inputs = [left.clone(), right.clone()].into_iter().collect();
        let signature = Signature::new(&[self.ty.clone()]);
        let node = self.container.apply(op.clone(), inputs, signature, Origin::default());
        node.expect("operands of one container").outputs().next().expect("one output")
    }

    fn add(&self, left: &Var, right: &Var) -> Var {
        self.apply(&self.add, left, right)
    }
}

fn over(var: &Var, input: usize) -> Candidate {
    Candidate { node: var.node().clone(), output: var.index(), input }
}

fn chain(size: usize) -> Case {
    let b = Builder::new();
    let (x, start) = (b.input(), b.input());
    let mut last = start.clone();
    let mut candidates = Vec::new();
    for _ in 0..size {
        last = b.add(&last, &x);
        candidates.push(over(&last, 0));
    }
    Case { outputs: vec![last], donated: vec![start], candidates }
}

fn read_late(size: usize) -> Case {
    let b = Builder::new();
    let (x, y) = (b.input(), b.input());
    let mut chain = vec![b.add(&x, &y)];
    let mut candidates = Vec::new();
    for at in 0..size {
        chain.push(b.add(&chain[at], &x));
        candidates.push(over(&chain[at + 1], 0));
    }
    let mut outputs = vec![chain[size].clone()];
    outputs.extend(chain[..size].iter().map(|var| b.add(var, &y)));
    Case { outputs, donated: vec![], candidates }
}

fn gradient(size: usize) -> Case {
    let b = Builder::new();
    let x = b.input();
    let mut forward = vec![b.add(&x, &x)];
    let mut candidates = Vec::new();
    for at in 0..size / 2 {
        forward.push(b.add(&forward[at], &x));
        candidates.push(over(&forward[at + 1], 0));
    }
    let mut back = forward[size / 2].clone();
    for var in forward.iter().rev().skip(1) {
        back = b.add(&back, var);
        candidates.push(over(&back, 0));
    }
    Case { outputs: vec![back], donated: vec![], candidates }
}

fn contended(size: usize) -> Case {
    let b = Builder::new();
    let (x, start) = (b.input(), b.input());
    let mut last = start;
    let mut candidates = Vec::new();
    for _ in 0..size {
        last = b.add(&x, &last);
        candidates.push(over(&last, 0));
    }
    Case { outputs: vec![last], donated: vec![x], candidates }
}

fn random(size: usize) -> Case {
    let b = Builder::new();
    let mut vars = vec![b.input(), b.input()];
    let mut candidates = Vec::new();
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    while candidates.len() < size {
        let mut pick = || {
            let window = if draw(8) == 0 { vars.len() } else { vars.len().min(64) };
            vars[vars.len() - 1 - draw(window)].clone()
        };
        let made = b.add(&pick(), &pick());
        candidates.push(over(&made, draw(2)));
        vars.push(made);
    }
    // Every node is needed, each read once more by a node that gathers them.
    let mut last = vars[0].clone();
    for var in &vars[1..] {
        last = b.add(&last, var);
    }
    Case { outputs: vec![last], donated: vars[..2].to_vec(), candidates }
}

fn plans(criterion: &mut Criterion) {
    let shapes: [(&str, Shape); 5] = [
        ("chain", chain),
        ("read late", read_late),
        ("gradient", gradient),
        ("contended", contended),
        ("random", random),
    ];
    for (name, make) in shapes {
        let mut group = criterion.benchmark_group(format!("plan {name}"));
        group.sample_size(10);
        for size in SIZES {
            group.throughput(Throughput::Elements(size as u64));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                let Case { outputs, donated, candidates } = make(size);
                let request =
                    Request { outputs: &outputs, donated: &donated, ..Request::default() };
                bencher.iter(|| black_box(plan(request, &candidates)));
            });
        }
        group.finish();
    }
}

/// A chain of destroyers, each of whose inputs is read once more.
fn destroyers(size: usize) -> Vec<Var> {
    let b = Builder::new();
    let x = b.input();
    let mut last = b.add(&x, &x);
    let mut outputs = Vec::new();
    for _ in 0..size {
        outputs.push(b.add(&last, &x));
        last = b.apply(&b.set, &last, &x);
    }
    outputs.insert(0, last);
    outputs
}

fn orders(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("destroy");
    group.sample_size(10);
    for size in SIZES {
        group.throughput(Throughput::Elements(2 * size as u64 + 1));
        group.bench_function(BenchmarkId::new("toposort", size), |bencher| {
            let outputs = destroyers(size);
            bencher.iter(|| black_box(destroy::toposort(&outputs, &[], &[]).map(|it| it.len())));
        });
        group.bench_function(BenchmarkId::new("orderings", size), |bencher| {
            let outputs = destroyers(size);
            bencher.iter(|| black_box(destroy::orderings(&outputs, &[], &[])));
        });
    }
    group.finish();
}

criterion_group!(benches, plans, orders);
criterion_main!(benches);
