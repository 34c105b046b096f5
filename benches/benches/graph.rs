//! Graphs of a million nodes: `cargo bench --bench graph`.
//!
//! To be reached on a quiet machine, a node: freeze 300 ns; clone and equality in constant time; 160 bytes. Two threads
//! that intern different graphs do 1.6 times what one does. Fifty rounds of building and dropping leave no node.

use std::hint::black_box;
use std::time::Instant;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use frazil_benches::add;
use frazil_core::node::elemwise::{self, Operand};
use frazil_core::{Container, DType, FunctionGraph, Origin, Ty, Var, codec};
use smallvec::smallvec;

const NODES: u64 = 1_000_000;

fn input(container: &Container) -> Var {
    container.input(&Ty::tensor(DType::Float64, &[None]), Some("x"), None)
}

/// `h[i + 1] = h[i] + h[i - 7]`, a chain in which nodes are shared.
fn chain(container: &Container, x: &Var, nodes: u64) -> Var {
    let op = add();
    let mut last = vec![x.clone(); 8];
    for i in 0..nodes as usize {
        let operands =
            smallvec![Operand::Var(last[i % 8].clone()), Operand::Var(last[(i + 1) % 8].clone())];
        let made = elemwise::apply(container, op.clone(), operands, Origin::default());
        last[(i + 1) % 8] = made.expect("operands of one type");
    }
    last[nodes as usize % 8].clone()
}

fn graph(container: &Container, nodes: u64) -> FunctionGraph {
    let x = input(container);
    let output = chain(container, &x, nodes);
    FunctionGraph::new(container, &[x], &[output]).expect("a closed graph")
}

fn freezing(criterion: &mut Criterion) {
    let container = Container::new();
    let million = graph(&container, NODES);
    let stats = container.stats();
    println!("bytes a node: {:.1}", stats.bytes as f64 / stats.nodes as f64);
    let mut group = criterion.benchmark_group("graph");
    group.sample_size(10).throughput(Throughput::Elements(NODES));
    group.bench_function("freeze", |bencher| {
        bencher.iter_batched(
            // A frozen graph is remembered while it lives: every round makes another state.
            || {
                let fresh = million.clone();
                fresh.set_name(&fresh.outputs()[0], "y").expect("an output");
                fresh
            },
            |fresh| fresh.freeze(),
            BatchSize::PerIteration,
        );
    });
    let frozen = million.freeze().expect("a closed graph");
    group.bench_function("bind", |bencher| {
        let x = million.inputs();
        bencher.iter(|| black_box(frozen.bind(&x)));
    });
    let bytes = codec::encode(&frozen).expect("a known op");
    println!("bytes of the stream a node: {:.1}", bytes.len() as f64 / NODES as f64);
    group.bench_function("encode", |bencher| bencher.iter(|| black_box(codec::encode(&frozen))));
    group.bench_function("decode", |bencher| {
        bencher.iter(|| black_box(codec::decode(&container, &bytes, &mut |_, _| Ok(None))));
    });
    group.finish();

    // In constant time: the same for a thousand nodes and for a million.
    let thousand = graph(&container, 1000);
    let small = thousand.freeze().expect("a closed graph");
    for (name, graph, frozen) in [("1e3", &thousand, &small), ("1e6", &million, &frozen)] {
        let other = frozen.unfreeze().freeze().expect("a closed graph");
        criterion
            .bench_function(&format!("clone/{name}"), |bencher| bencher.iter(|| graph.clone()));
        criterion.bench_function(&format!("equal/{name}"), |bencher| {
            bencher.iter(|| black_box(*frozen == black_box(other.clone())));
        });
    }
}

fn threads(criterion: &mut Criterion) {
    const PART: u64 = NODES / 4;
    let mut group = criterion.benchmark_group("intern");
    group.sample_size(10);
    for threads in [1, 2] {
        group.throughput(Throughput::Elements(PART * threads));
        group.bench_function(format!("{threads} threads"), |bencher| {
            bencher.iter_custom(|rounds| {
                (0..rounds)
                    .map(|_| {
                        let container = Container::new();
                        let inputs: Vec<Var> = (0..threads).map(|_| input(&container)).collect();
                        let start = Instant::now();
                        let built: Vec<Var> = std::thread::scope(|scope| {
                            let container = &container;
                            let workers: Vec<_> = inputs
                                .iter()
                                .map(|x| scope.spawn(move || chain(container, x, PART)))
                                .collect();
                            workers
                                .into_iter()
                                .map(|worker| worker.join().expect("building does not panic"))
                                .collect()
                        });
                        let time = start.elapsed();
                        drop(built);
                        time
                    })
                    .sum()
            });
        });
    }
    group.finish();
}

fn rounds(_: &mut Criterion) {
    let container = Container::new();
    let start = container.stats();
    let mut most = 0;
    for _ in 0..50 {
        let graph = graph(&container, 200_000);
        most = most.max(container.stats().bytes);
        drop((graph.clone(), graph));
        assert_eq!(container.stats().nodes, start.nodes);
    }
    let end = container.stats();
    println!("50 rounds of 200,000 nodes: {most} bytes at most, {} at the end", end.bytes);
}

criterion_group!(benches, freezing, threads, rounds);
criterion_main!(benches);
