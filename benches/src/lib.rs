//! Benchmarks only: see `benches/`.

use frazil_core::{Op, OpKey, OpProps, Param, TypeRule};

/// The allocator of the extension module, so that both are measured alike.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An op of two operands for graphs that are never run.
pub fn add() -> Op {
    let key = OpKey {
        kind: "bench.add".into(),
        params: Param::None,
        props: OpProps { pure: true, ..OpProps::default() },
        rule: Some(TypeRule::Arithmetic.into()),
        arity: Some(2),
    };
    Op::intern(key, "add")
}
