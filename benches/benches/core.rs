//! The core on a million nodes: `cargo bench --bench core`.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use frazil_benches::add;
use frazil_core::node::elemwise::{self, Operand};
use frazil_core::node::traverse::toposort;
use frazil_core::{Container, DType, FrozenFunctionGraph, Op, Origin, Ty, Var};
use smallvec::smallvec;

const NODES: u64 = 1_000_000;

/// `h[i + 1] = h[i] + h[i - 7]`, a chain in which nodes are shared.
fn chain(container: &Container, op: &Op, x: &Var) -> Var {
    let mut last = vec![x.clone(); 8];
    for i in 0..NODES as usize {
        let operands =
            smallvec![Operand::Var(last[i % 8].clone()), Operand::Var(last[(i + 1) % 8].clone())];
        let made = elemwise::apply(container, op.clone(), operands, Origin::default());
        last[(i + 1) % 8] = made.expect("operands of one type");
    }
    last[NODES as usize % 8].clone()
}

fn graphs(criterion: &mut Criterion) {
    let op = add();
    let ty = Ty::tensor(DType::Float64, &[None]);
    let mut group = criterion.benchmark_group("million");
    group.sample_size(10).throughput(Throughput::Elements(NODES));
    group.bench_function("intern", |bencher| {
        bencher.iter_batched(
            || {
                let container = Container::new();
                let x = container.input(&ty, Some("x"), None);
                (container, x)
            },
            |(container, x)| {
                let built = chain(&container, &op, &x);
                (container, x, built)
            },
            BatchSize::PerIteration,
        );
    });
    let container = Container::new();
    let x = container.input(&ty, Some("x"), None);
    let outputs = [chain(&container, &op, &x)];
    let stats = container.stats();
    println!("bytes a node: {:.1}", stats.bytes as f64 / stats.nodes as f64);
    group.bench_function("find again", |bencher| {
        bencher.iter(|| black_box(chain(&container, &op, &x)));
    });
    group.bench_function("toposort", |bencher| {
        bencher.iter(|| black_box(toposort(&outputs, &[]).len()));
    });
    group.bench_function("freeze", |bencher| {
        bencher.iter_batched(
            || (),
            |()| FrozenFunctionGraph::new(&container, std::slice::from_ref(&x), &outputs),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, graphs);
criterion_main!(benches);
