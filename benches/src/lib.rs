//! Benchmarks only: see `benches/`.

/// The allocator of the extension module, so that both are measured alike.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
