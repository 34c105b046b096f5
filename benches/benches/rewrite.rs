//! Rewriting graphs of growing size by some sixty rules: `cargo bench --bench rewrite`.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use frazil_benches as _;
use frazil_core::node::elemwise::{self, Operand};
use frazil_core::rewrite::machine::DTypeSet;
use frazil_core::rewrite::pattern::{Pattern, Unknown};
use frazil_core::rewrite::ruleset::{Right, Rights, Rule, RuleSet};
use frazil_core::rewrite::sweep::rewrite;
use frazil_core::{
    Container, DType, Op, OpKey, OpProps, Origin, Param, Ty, TypeRule, Var, WeakScalar,
};

fn op(name: &str, arity: u32, commutative: bool) -> Op {
    let key = OpKey {
        kind: format!("bench.{name}"),
        params: Param::None,
        props: OpProps { pure: true, commutative, ..OpProps::default() },
        rule: Some(TypeRule::Arithmetic.into()),
        arity: Some(arity),
    };
    Op::intern(key, name)
}

fn apply(op: &Op, inputs: &[&Var]) -> Var {
    let operands = inputs.iter().map(|&input| Operand::Var(input.clone())).collect();
    elemwise::apply(Container::global(), op.clone(), operands, Origin::default())
        .expect("operands of one type")
}

fn number(container: &Container, value: f64) -> Var {
    let data = WeakScalar::Float(value).constant(DType::Float64).expect("a float is a float64");
    container.constant(data)
}

fn rule(name: String, left: &Var, right: &Var, variables: &[&Var]) -> Arc<Rule> {
    let unknown = |var: &Var| Unknown {
        var: var.clone(),
        dtypes: DTypeSet::ALL,
        constant: false,
        variadic: false,
    };
    let unknowns: Vec<Unknown> = variables.iter().map(|var| unknown(var)).collect();
    let pattern = Pattern::compile(left, &unknowns, &[], &[]).expect("a pattern");
    let right = Right::written(right, &pattern, &unknowns, &[], false).expect("a template");
    let rights = Rights::Each(vec![(0, right)]);
    Arc::new(Rule { name: name.into(), pattern, rights, guarded: false })
}

struct Ops {
    binary: Vec<Op>,
    unary: Vec<Op>,
    neg: Op,
}

fn ops() -> Ops {
    let binary = ["add", "sub", "mul", "div", "max", "min", "and", "or"];
    let unary = ["exp", "log", "sin", "cos", "tanh", "abs", "sqr", "floor"];
    Ops {
        binary: (0..).zip(binary).map(|(at, name)| op(name, 2, at % 2 == 0)).collect(),
        unary: unary.iter().map(|name| op(name, 1, false)).collect(),
        neg: op("neg", 1, false),
    }
}

/// Laws: neutral elements, idempotence, signs that cancel or move out, absorption.
fn catalog(ops: &Ops) -> RuleSet {
    let scalar = Ty::scalar(DType::Float64);
    let container = Container::global();
    let (x, y) =
        (container.input(&scalar, Some("x"), None), container.input(&scalar, Some("y"), None));
    let neg = |var: &Var| apply(&ops.neg, &[var]);
    let mut rules = vec![rule("neg_neg".into(), &neg(&neg(&x)), &x, &[&x])];
    for (at, op) in ops.binary.iter().enumerate() {
        let name = |law: &str| format!("{law}_{}", op.label());
        let neutral = number(container, at as f64);
        let both = apply(op, &[&x, &y]);
        rules.extend([
            rule(name("neutral"), &apply(op, &[&x, &neutral]), &x, &[&x]),
            rule(name("self"), &apply(op, &[&x, &x]), &apply(&ops.unary[at], &[&x]), &[&x]),
            rule(name("neg"), &apply(op, &[&x, &neg(&y)]), &neg(&both), &[&x, &y]),
            rule(name("again"), &apply(op, &[&x, &both]), &both, &[&x, &y]),
            rule(name("of_unary"), &apply(op, &[&apply(&ops.unary[at], &[&x]), &x]), &x, &[&x]),
        ]);
    }
    for outer in &ops.unary {
        let name = |law: &str, other: &Op| format!("{law}_{}_{}", outer.label(), other.label());
        let once = apply(outer, &[&x]);
        rules.push(rule(name("idempotent", outer), &apply(outer, &[&once]), &once, &[&x]));
        rules.push(rule(name("odd", &ops.neg), &apply(outer, &[&neg(&x)]), &neg(&once), &[&x]));
        for op in &ops.binary[..5] {
            let left = apply(op, &[&apply(outer, &[&x]), &apply(outer, &[&y])]);
            let right = apply(outer, &[&apply(op, &[&x, &y])]);
            if op.label() == "sub" {
                rules.push(rule(name("distribute", op), &left, &right, &[&x, &y]));
            }
        }
    }
    RuleSet::new(rules)
}

/// A graph of `nodes` applications, some of which the rules take away.
fn graph(container: &Container, ops: &Ops, nodes: usize) -> Var {
    let ty = Ty::tensor(DType::Float64, &[None]);
    let mut recent: Vec<Var> =
        ["a", "b", "c", "d"].iter().map(|name| container.input(&ty, Some(name), None)).collect();
    let numbers: Vec<Var> = (0..10).map(|at| number(container, at as f64)).collect();
    let mut state = 1u64;
    for _ in 0..nodes {
        // A linear congruence: the same graph on every machine.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let draw = |shift: u32, count: usize| (state >> shift) as usize % count;
        let operand = |shift: u32| &recent[draw(shift, 4)];
        let made = match draw(20, 8) {
            0 => apply(&ops.neg, &[operand(30)]),
            1 | 2 => apply(&ops.unary[draw(24, 8)], &[operand(30)]),
            3 => apply(&ops.binary[draw(24, 8)], &[operand(30), &numbers[draw(40, 10)]]),
            _ => apply(&ops.binary[draw(24, 8)], &[operand(30), operand(36)]),
        };
        recent[draw(50, 4)] = made;
    }
    let pairs = apply(&ops.binary[0], &[&recent[0], &recent[1]]);
    let others = apply(&ops.binary[2], &[&recent[2], &recent[3]]);
    apply(&ops.binary[0], &[&pairs, &others])
}

fn rewriting(criterion: &mut Criterion) {
    let ops = ops();
    let mut group = criterion.benchmark_group("rewrite");
    for nodes in [250, 2_500, 20_000, 80_000] {
        group.sample_size(10).throughput(Throughput::Elements(nodes as u64));
        let outputs = [graph(&Container::new(), &ops, nodes)];
        group.bench_function(BenchmarkId::new("first time", nodes), |bencher| {
            bencher.iter_batched(
                || catalog(&ops),
                |rules| (black_box(rewrite(&rules, &outputs).expect("the rules end")), rules),
                BatchSize::PerIteration,
            );
        });
        let rules = catalog(&ops);
        let kept = rewrite(&rules, &outputs).expect("the rules end");
        group.bench_function(BenchmarkId::new("remembered", nodes), |bencher| {
            bencher.iter(|| black_box(rewrite(&rules, &outputs).expect("the rules end")));
        });
        drop(kept);
    }
    group.finish();
}

criterion_group!(benches, rewriting);
criterion_main!(benches);
