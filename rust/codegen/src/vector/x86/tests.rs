//! Kernels with functions of vectors and without them compute the same bits.

use crate::dtype::Dtype;
use crate::kernel::{Kernel, LoopKernel};
use crate::machine::{Code, callees, compile_with, is_hot};
use crate::read::read;
use crate::vector::Registers;

/// Kernels, and how many functions of vectors each has: one for a stage, one for short rows and one for the start of
/// each fold. Those for tiles are one for each pass, one for each fold that is a value, one that turns rows to columns if
/// rows are read before the last pass, and one that turns columns to rows if the last pass reads what was kept. The first
/// number is that for registers of 512 bits, the second that for 256: a function of elements ends a stage there, and there
/// is none for products of int64.
const KERNELS: [(&str, [usize; 2], &str); 23] = [
    (
        "arithmetic",
        [1, 1],
        "loop 8 0\nread float64 1\nread float64 1\nread float64 0\nliteral float64 3fe0000000000000\n\
         op sub float64 float64,float64 0 1\nop sqr float64 float64 4\n\
         op mul float64 float64,float64 3 5\nop truediv float64 float64,float64 6 2\n\
         op sqrt float64 float64 7\nop neg float64 float64 7\nop abs float64 float64 0\n\
         op floor float64 float64 1\nop add float64 float64,float64 10 11\n\
         op reciprocal float64 float64 12\n\
         write 9 float64 1 -\nwrite 13 float64 1 -\npass\nvarying 4 5 6 7 9 10 11 12 13\nreads 0 1\n\
         writes 0 1",
    ),
    (
        "single",
        [1, 1],
        "loop 16 0\nread float32 1\nread float32 1\nliteral float32 3f800000\n\
         op add float32 float32,float32 0 1\nop maximum float32 float32,float32 3 2\n\
         op minimum float32 float32,float32 4 0\nop rint float32 float32 5\n\
         op sign float32 float32 1\nop mul float32 float32,float32 6 7\n\
         write 8 float32 1 -\npass\nvarying 3 4 5 6 7 8\nreads 0 1\nwrites 0",
    ),
    (
        "bools",
        [1, 1],
        "loop 8 0\nread float64 1\nread bool 1\nread bool 0\nread float64 1\n\
         op lt bool float64,float64 0 3\nop and_ bool bool,bool 4 1\nop or_ bool bool,bool 5 2\n\
         op invert bool bool 6\nop isnan bool float64 0\nop xor bool bool,bool 7 8\n\
         op where float64 bool,float64,float64 9 0 3\nop add bool bool,bool 1 4\n\
         write 9 bool 1 -\nwrite 10 float64 1 -\nwrite 11 bool 1 -\npass\n\
         varying 4 5 6 7 8 9 10 11\nreads 0 1 3\nwrites 0 1 2",
    ),
    (
        "bools of single",
        [1, 1],
        "loop 16 0\nread float32 1\nread bool 1\nliteral float32 0\nop gt bool float32,float32 0 2\n\
         op and_ bool bool,bool 3 1\nop cast float32 bool 4\nop isfinite bool float32 0\n\
         op add float32 float32,float32 5 0\nwrite 4 bool 1 -\nwrite 7 float32 1 -\n\
         write 6 bool 1 -\npass\nvarying 3 4 5 6 7\nreads 0 1\nwrites 0 1 2",
    ),
    (
        "integers",
        [1, 0],
        "loop 8 0\nread int64 1\nread int64 1\nliteral int64 7\nop mul int64 int64,int64 0 1\n\
         op sub int64 int64,int64 3 2\nop xor int64 int64,int64 4 0\nop invert int64 int64 5\n\
         op neg int64 int64 6\nop maximum int64 int64,int64 7 1\nop ge bool int64,int64 8 0\n\
         op where int64 bool,int64,int64 9 8 1\nop abs int64 int64 10\n\
         write 11 int64 1 -\npass\nvarying 3 4 5 6 7 8 9 10 11\nreads 0 1\nwrites 0",
    ),
    (
        "clip",
        [1, 1],
        "loop 8 0\nread float64 1\nread float64 0\nread float64 1\n\
         op clip float64 float64,float64,float64 0 1 2\nop fmax float64 float64,float64 0 2\n\
         op fmin float64 float64,float64 2 3\nop mul float64 float64,float64 4 5\n\
         write 6 float64 1 -\npass\nvarying 3 4 5 6\nreads 0 2\nwrites 0",
    ),
    (
        "sums",
        [4, 4],
        "loop 8 0\nread float64 1\nread float64 1\nop sub float64 float64,float64 0 1\n\
         op sqr float64 float64 2\nwrite 3 float64 0 add\nwrite 2 float64 0 add\npass\nvarying 2 3\n\
         reads 0 1\nwrites 0 1",
    ),
    (
        "other folds",
        [5, 5],
        "loop 8 0\nread float64 1\nread float64 1\nop mul float64 float64,float64 0 1\n\
         write 0 float64 0 maximum\nwrite 2 float64 0 minimum\nwrite 1 float64 0 mul\npass\n\
         varying 2\nreads 0 1\nwrites 0 1 2",
    ),
    (
        "folds of integers",
        [5, 3],
        "loop 8 0\nread int64 1\nwrite 0 int64 0 add\nwrite 0 int64 0 maximum\nwrite 0 int64 0 and_\n\
         pass\nreads 0\nwrites 0 1 2",
    ),
    (
        "sum of single",
        [4, 4],
        "loop 16 0\nread float32 1\nop sqr float32 float32 0\nwrite 1 float32 0 add\n\
         write 0 float32 0 minimum\npass\nvarying 1\nreads 0\nwrites 0 1",
    ),
    (
        "rows",
        [8, 8],
        "loop 8 1\nread float64 1\nread int64 0\nliteral float64 0\nfold float64 add 2 0\n\
         op cast float64 int64 1\nop truediv float64 float64,float64 3 4\n\
         op sub float64 float64,float64 0 5\nwrite 6 float64 1 -\npass\nuniform 4\nreads 0\nfolds 3\n\
         pass\nuniform 5\nvarying 6\nreads 0\nwrites 0",
    ),
    (
        "functions",
        [3, 3],
        "loop 8 0\nread float64 1\nread float64 1\nop mul float64 float64,float64 0 1\n\
         op exp float64 float64 2\nop add float64 float64,float64 3 0\n\
         op sub float64 float64,float64 2 4\nwrite 4 float64 0 add\nwrite 5 float64 1 -\npass\n\
         varying 2 3 4 5\nreads 0 1\nwrites 0 1",
    ),
    (
        "products of rows that indices choose",
        [3, 3],
        "loop 8 0\nread int64 0\nread int64 0\nread float64 0\nsource float64 1 1\nsource float64 1 1\n\
         take 0 float64 0\ntake 1 float64 1\nop mul float64 float64,float64 3 4\n\
         op mul float64 float64,float64 5 2\nwrite 3 float64 1 -\nwrite 6 float64 0 add\npass\n\
         varying 3 4 5 6\nwrites 0 1",
    ),
    (
        "rows that indices choose, and a value of each row",
        [3, 3],
        "loop 8 0\nread int64 0\nread float64 0\nread bool 0\nsource float64 1 1\ntake 0 float64 0\n\
         op neg float64 float64 1\nop where float64 bool,float64,float64 2 3 4\nwrite 5 float64 0 add\n\
         write 4 float64 0 -\npass\nuniform 4\nvarying 3 5\nwrites 0",
    ),
    (
        "sums into rows that indices choose",
        [2, 2],
        "loop 8 0\nread float64 0\nread float64 1\nread int64 0\nread int64 0\n\
         literal float64 4000000000000000\nop mul float64 float64,float64 0 4\n\
         op lt bool float64,float64 0 5\nop mul float64 float64,float64 5 1\n\
         op where float64 bool,float64,float64 6 7 1\nput 8 float64 1 add 2\nput 7 float64 1 - 3\n\
         pass\nuniform 5 6\nvarying 7 8\nreads 1\nputs 0 1",
    ),
    (
        "rows of single that indices choose",
        [4, 4],
        "loop 16 0\nread int64 0\nread float32 1\nsource float32 1 1\ntake 0 float32 0\n\
         op sub float32 float32,float32 2 1\nwrite 3 float32 0 maximum\nwrite 2 float32 0 mul\n\
         put 3 float32 1 minimum 0\npass\nvarying 2 3\nreads 1\nwrites 0 1\nputs 0",
    ),
    (
        "elements that indices choose",
        [2, 3],
        "loop 8 0\nread int64 1\nread float64 1\nread float64 1\nsource float64 0 1\nsource float64 0 1\n\
         take 0 float64 0\ntake 1 float64 0\nop mul float64 float64,float64 4 1\n\
         op sub float64 float64,float64 2 3\nop sub float64 float64,float64 6 5\n\
         op exp float64 float64 7\nop mul float64 float64,float64 8 1\nwrite 7 float64 0 add\n\
         write 8 float64 1 -\nput 7 float64 0 add 0\nput 9 float64 0 add 0\npass\n\
         varying 3 4 5 6 7 8 9\nreads 0 1 2\nwrites 0 1\nputs 0 1",
    ),
    (
        "elements of single that indices choose",
        [2, 1],
        "loop 16 0\nread int64 1\nread int64 1\nread float32 1\nsource float32 0 1\nsource int64 0 1\n\
         take 0 float32 0\ntake 1 int64 1\nop add float32 float32,float32 3 2\n\
         op cast float32 int64 4\nop maximum float32 float32,float32 5 6\nwrite 7 float32 0 maximum\n\
         put 7 float32 0 - 0\nput 4 int64 0 minimum 1\npass\nvarying 3 4 5 6 7\nreads 0 1 2\n\
         writes 0\nputs 0 1",
    ),
    (
        "sums into elements that indices choose",
        [0, 0],
        "loop 8 0\nread int64 1\nread float64 1\nput 1 float64 0 add 0\npass\nreads 0 1\nputs 0",
    ),
    (
        "tiles that are gathered",
        [17, 18],
        "loop 8 1\nread float64 0\nread float64 1\nread float64 1\nread float64 0\nliteral float64 3fe0000000000000\n\
         literal float64 fff0000000000000\nliteral float64 0\nop sub float64 float64,float64 0 1\n\
         op mul float64 float64,float64 7 2\nop sqr float64 float64 8\nop mul float64 float64,float64 4 9\n\
         op sub float64 float64,float64 3 10\nfold float64 maximum 5 11\nop isfinite bool float64 12\n\
         op where float64 bool,float64,float64 13 12 6\nop sub float64 float64,float64 11 14\n\
         op exp float64 float64 15\nfold float64 add 6 16\nop reciprocal float64 float64 17\n\
         op mul float64 float64,float64 18 16\nop where float64 bool,float64,float64 13 19 8\n\
         write 12 float64 0 -\nwrite 17 float64 0 -\nwrite 20 float64 1 add\nwrite 19 float64 1 maximum\n\
         write 19 float64 0 add\nwrite 20 float64 0 minimum\nbuffers 11 16\npass\n\
         varying 7 8 9 10 11\nreads 1 2\nstores 11\nfolds 12\npass\nuniform 13 14\nvarying 15 16\n\
         loads 11\nstores 16\nfolds 17\npass\nuniform 18\nvarying 7 8 19 20\nreads 1 2\nloads 16\n\
         writes 2 3 4 5",
    ),
    (
        "tiles of softmax",
        [14, 15],
        "loop 8 1\nread float64 1\nliteral float64 fff0000000000000\nliteral float64 0\n\
         fold float64 maximum 1 0\nop sub float64 float64,float64 0 3\nop exp float64 float64 4\n\
         fold float64 add 2 5\nop truediv float64 float64,float64 5 6\nwrite 7 float64 1 -\nbuffers 5\n\
         pass\nreads 0\nfolds 3\npass\nvarying 4 5\nreads 0\nstores 5\nfolds 6\npass\nvarying 7\n\
         loads 5\nwrites 0",
    ),
    (
        "tiles of products",
        [12, 12],
        "loop 8 1\nread float64 1\nread float64 0\nliteral float64 3ff0000000000000\n\
         literal float64 7ff0000000000000\nfold float64 mul 2 0\nfold float64 minimum 3 0\n\
         op add float64 float64,float64 4 1\nop sub float64 float64,float64 0 6\n\
         op mul float64 float64,float64 7 5\nwrite 8 float64 1 -\nwrite 7 float64 0 add\npass\n\
         reads 0\nfolds 4 5\npass\nuniform 6\nvarying 7 8\nreads 0\nwrites 0 1",
    ),
    (
        "columns",
        [1, 1],
        "loop 8 0\nread float64 1\nread float64 0\nop mul float64 float64,float64 0 1\n\
         write 2 float64 1 add\npass\nvarying 2\nreads 0\nwrites 0",
    ),
];

/// Rows from which indices choose.
const CHOSEN_FROM: usize = 7;

/// Memory of a call: for each operand its bytes, from where on, and from row to row.
struct Operands {
    memory: Vec<Vec<u8>>,
    strides: Vec<i64>,
}

fn number(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn element(dtype: Dtype, state: &mut u64) -> Vec<u8> {
    let drawn = number(state);
    let float = match drawn % 23 {
        0 => 0.0,
        1 => -0.0,
        2 => f64::INFINITY,
        3 if drawn.is_multiple_of(5) => f64::NAN,
        _ => (drawn % 2000) as f64 / 400.0 - 2.5,
    };
    match dtype {
        Dtype::Float64 => float.to_le_bytes().to_vec(),
        Dtype::Float32 => (float as f32).to_le_bytes().to_vec(),
        // Every byte but zero is true.
        Dtype::Bool => vec![if drawn.is_multiple_of(3) { 0 } else { 1 + (drawn % 5) as u8 }],
        Dtype::Int64 => (drawn as i64 - (1 << 30)).to_le_bytes().to_vec(),
        _ => {
            let bits = 8 * dtype.size();
            let whole: u64 = match drawn % 16 {
                // Often as many as shifts have bits.
                0..4 => drawn >> 4 & 7,
                // Minus one, the least number, and the largest float.
                4 => u64::MAX,
                5 => 1 << (bits - 1),
                6 => 0x7bff,
                _ => drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits),
            };
            whole.to_le_bytes()[..dtype.size() as usize].to_vec()
        }
    }
}

fn operands(kernel: &LoopKernel, rows: usize, length: usize, stays: bool) -> Operands {
    let mut state = (rows * 1000 + length) as u64;
    let mut own = Operands { memory: Vec::new(), strides: Vec::new() };
    // Rows with a gap between them, which begin anywhere.
    let row = length + 3;
    let mut add = |dtype: Dtype, of_row: usize, rows: usize, moves: bool| {
        let bytes = (0..of_row * rows + 8).flat_map(|_| element(dtype, &mut state)).collect();
        own.memory.push(bytes);
        own.strides.push(if moves { of_row as i64 * i64::from(dtype.size()) } else { 0 });
    };
    let of_row = |inner: bool| if inner { row } else { 1 };
    for (k, read) in kernel.reads.iter().enumerate() {
        add(read.dtype, of_row(read.inner), rows, !stays || k % 2 == 0);
    }
    for source in &kernel.sources {
        add(source.dtype, row, CHOSEN_FROM, false);
    }
    for write in &kernel.writes {
        add(write.dtype, of_row(write.inner), rows, !stays || write.reduce.is_none());
    }
    for put in &kernel.puts {
        add(put.dtype, row, CHOSEN_FROM, false);
    }
    let sources = kernel.sources.iter().map(|own| own.dtype);
    let tables: Vec<Dtype> = sources.chain(kernel.puts.iter().map(|own| own.dtype)).collect();
    for dtype in &tables {
        let size = i64::from(dtype.size());
        let table = [size, CHOSEN_FROM as i64, row as i64 * size];
        own.memory.push(table.iter().flat_map(|own| own.to_le_bytes()).collect());
    }
    if !tables.is_empty() {
        own.memory.push(vec![0; 16]);
        choose_rows(kernel, &mut own.memory, &mut state);
    }
    for _ in &kernel.buffers {
        own.memory.push(vec![0; 8 * row]);
    }
    own
}

/// Lets all integers that are read say which row is meant: of some reads from the front, of others from the end, too.
fn choose_rows(kernel: &LoopKernel, memory: &mut [Vec<u8>], state: &mut u64) {
    for (read, bytes) in kernel.reads.iter().zip(memory) {
        if read.dtype == Dtype::Int64 {
            let length = CHOSEN_FROM as i64;
            let least = if number(state).is_multiple_of(2) { 0 } else { -length };
            for index in bytes.chunks_exact_mut(8) {
                let drawn = number(state) as i64 % (length - least) + least;
                index.copy_from_slice(&drawn.to_le_bytes());
            }
        }
    }
}

/// Replaces what is not finite in floats that are read or written.
fn make_finite(kernel: &LoopKernel, memory: &mut [Vec<u8>]) {
    let reads = kernel.reads.iter().map(|own| own.dtype);
    let dtypes = reads.chain(kernel.writes.iter().map(|own| own.dtype));
    for (dtype, bytes) in dtypes.zip(memory) {
        for one in bytes.chunks_exact_mut(dtype.size() as usize) {
            match dtype {
                Dtype::Float64 if !f64::from_le_bytes(one.try_into().unwrap()).is_finite() => {
                    one.copy_from_slice(&1.25_f64.to_le_bytes());
                }
                Dtype::Float32 if !f32::from_le_bytes(one.try_into().unwrap()).is_finite() => {
                    one.copy_from_slice(&1.25_f32.to_le_bytes());
                }
                _ => {}
            }
        }
    }
}

fn run(code: usize, own: &mut Operands, rows: usize, length: usize) {
    type Function = unsafe extern "C" fn(*const *mut u8, i64, i64, *const i64) -> i32;
    let pointers: Vec<*mut u8> = own.memory.iter_mut().map(|own| own.as_mut_ptr()).collect();
    // SAFETY: a kernel lies there, and there are as many operands, each long enough.
    let status = unsafe {
        let function: Function = std::mem::transmute(code);
        function(pointers.as_ptr(), rows as i64, length as i64, own.strides.as_ptr())
    };
    assert_eq!(status, 0);
}

/// Whether all elements are the same bits, or both NaN.
fn same(dtype: Dtype, a: &[u8], b: &[u8]) -> bool {
    let size = dtype.size() as usize;
    a.chunks(size).zip(b.chunks(size)).all(|(a, b)| {
        let nan = |own: &[u8]| match dtype {
            // All bits of a float of 16 bits are computed as they are.
            Dtype::Float64 => f64::from_le_bytes(own.try_into().unwrap()).is_nan(),
            Dtype::Float32 => f32::from_le_bytes(own.try_into().unwrap()).is_nan(),
            _ => false,
        };
        a == b || nan(a) && nan(b)
    })
}

#[test]
fn kernels_have_functions_of_vectors() {
    let made = KERNELS.map(|(name, _, text)| {
        (name, [Registers::Of512, Registers::Of256].map(|own| callees(text, own).0))
    });
    assert_eq!(made, KERNELS.map(|(name, counts, _)| (name, counts)));
}

/// More values at once than there are registers: powers of a read, folded and written from the last one on.
fn powers_text(count: usize) -> String {
    let mut text = String::from("loop 8 0\nread float64 1\nread float64 1\n");
    for k in 0..count {
        text += &format!("op mul float64 float64,float64 {} 0\n", k + 1);
    }
    for k in 0..count - 1 {
        let so_far = if k == 0 { count + 1 } else { count + 1 + k };
        text += &format!("op sub float64 float64,float64 {so_far} {}\n", count - k);
    }
    let last = 2 * count;
    text += &format!(
        "write {last} float64 1 -\nwrite {last} float64 0 add\nwrite 3 float64 0 maximum\npass\n"
    );
    let all: Vec<String> = (2..=last).map(|k| k.to_string()).collect();
    text + &format!("varying {}\nreads 0 1\nwrites 0 1 2", all.join(" "))
}

#[test]
fn values_wait_on_the_stack_where_registers_are_few() {
    for count in [20, 30, 40, 90] {
        let text = powers_text(count);
        for registers in [Registers::Of512, Registers::Of256] {
            assert!(callees(&text, registers).0 >= 3, "{count}, {registers:?}");
        }
        compare("powers", &text, [1, 7, 8, 9, 33, 100, 513].into_iter());
    }
}

/// Loops that elements go through: names, dtypes, lanes and the most steps.
const LOOPS: [(&str, &str, u32, u64); 4] = [
    ("many", "float64", 8, 200),
    ("none", "float64", 8, 0),
    ("single", "float32", 16, 200),
    ("more than are taken at once", "float64", 8, 10_000),
];

/// A loop whose elements leave it at different steps, some never, with what is computed before and after it.
fn loop_text(dtype: &str, lanes: u32, steps: u64) -> String {
    let (two, five) = match dtype {
        "float64" => (2_f64.to_bits(), 5_f64.to_bits()),
        _ => (u64::from(2_f32.to_bits()), u64::from(5_f32.to_bits())),
    };
    let pair = format!("{dtype},{dtype}");
    format!(
        "loop {lanes} 0\nbody {pair} {dtype}\nliteral {dtype} {two:x}\nliteral {dtype} {five:x}\n\
         op mul {dtype} {pair} 0 3\nop sub {dtype} {pair} 5 2\nop add {dtype} {pair} 1 2\n\
         op abs {dtype} {dtype} 6\nop gt bool {pair} 8 4\nnexts 6 7\ncondition 9\nend\n\
         read {dtype} 1\nread {dtype} 1\nliteral int64 {steps:x}\n\
         op sub {dtype} {pair} 0 1\nresult 0 1 2 3 0 1\nresult 0 0 2 3 0 1\n\
         op add {dtype} {pair} 4 5\nwrite 6 {dtype} 1 -\nwrite 4 {dtype} 0 add\npass\n\
         varying 3 4 5 6\nreads 0 1\nwrites 0 1"
    )
}

#[test]
fn loops_compute_the_same_bits() {
    for (name, dtype, lanes, steps) in LOOPS {
        let text = loop_text(dtype, lanes, steps);
        // Two stages, two loops and the start of the fold.
        for registers in [Registers::Of512, Registers::Of256] {
            assert_eq!(callees(&text, registers).0, 5, "{name}, {registers:?}");
        }
        compare(name, &text, [1, 7, 8, 31, 33, 100, 513].into_iter());
    }
}

#[test]
fn loops_tell_which_elements_have_left() {
    for (name, dtype, lanes, steps) in LOOPS {
        let text = loop_text(dtype, lanes, steps);
        let text = text.replace("result 0 0 2 3 0 1", "result 0 2 2 3 0 1").replace(
            &format!("op add {dtype} {dtype},{dtype} 4 5\n"),
            &format!("op where {dtype} bool,{dtype},{dtype} 5 4 1\n"),
        );
        assert!(text.contains("where"));
        assert_eq!(callees(&text, Registers::Of512).0, 5, "{name}");
        compare(name, &text, [1, 7, 8, 31, 33, 100, 513, 1500].into_iter());
    }
}

#[test]
fn loops_with_many_comparisons_have_functions() {
    let plain = loop_text("float64", 8, 200);
    let (begin, end) = plain.split_once("nexts 6 7\ncondition 9").unwrap();
    // Four masks at once, besides those that say which elements go on.
    let text = format!(
        "{begin}op gt bool float64,float64 7 4\nop gt bool float64,float64 6 7\n\
         op gt bool float64,float64 5 8\nop or_ bool bool,bool 11 12\nop or_ bool bool,bool 10 13\n\
         op or_ bool bool,bool 9 14\nnexts 6 7\ncondition 15{end}"
    );
    assert_eq!(callees(&text, Registers::Of512).0, callees(&plain, Registers::Of512).0);
    compare("many comparisons", &text, [1, 7, 8, 31, 33, 100, 513].into_iter());
}

/// Functions that blocks may hold.
const FUNCTIONS: [&str; 24] = [
    "exp",
    "exp2",
    "expm1",
    "sigmoid",
    "log",
    "log2",
    "log10",
    "log1p",
    "log1mexp",
    "softplus",
    "log_sigmoid",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "arcsin",
    "arccos",
    "arctan",
    "erf",
    "erfc",
    "ndtr",
    "cbrt",
];

fn function_text(name: &str, dtype: &str, lanes: u32) -> String {
    format!(
        "loop {lanes} 0\nread {dtype} 1\nop {name} {dtype} {dtype} 0\nop add {dtype} {dtype},{dtype} 0 1\n\
         write 2 {dtype} 1 -\nwrite 1 {dtype} 0 add\npass\nvarying 1 2\nreads 0\nwrites 0 1"
    )
}

#[test]
fn functions_are_written_into_the_loop() {
    for name in FUNCTIONS {
        for (dtype, lanes) in [("float64", 8), ("float32", 16)] {
            let (_, names) = callees(&function_text(name, dtype, lanes), Registers::Of512);
            assert!(names.iter().all(|own| !own.starts_with(name)), "{name} {dtype}: {names:?}");
        }
    }
}

#[test]
fn functions_in_the_loop_compute_the_same_bits() {
    for name in FUNCTIONS {
        for (dtype, lanes) in [("float64", 8), ("float32", 16)] {
            compare(
                name,
                &function_text(name, dtype, lanes),
                [1, 7, 8, 9, 33, 100, 513, 1500].into_iter(),
            );
        }
    }
}

#[test]
fn vectors_compute_the_same_bits() {
    for (name, _, text) in KERNELS {
        compare(name, text, (0..70).chain([127, 511, 512, 513, 520, 1024, 1500, 9000]));
    }
}

#[test]
fn a_long_sum_is_carried_within_a_call() {
    for (dtype, lanes) in [("float64", 8), ("float32", 16)] {
        let text = format!(
            "loop {lanes} 0\nread {dtype} 1\nread {dtype} 1\nop mul {dtype} {dtype},{dtype} 0 1\n\
             write 2 {dtype} 0 add\nwrite 0 {dtype} 1 -\npass\nvarying 2\nreads 0 1\nwrites 0 1"
        );
        // Around the ends of both levels, and where rows go on with the sums of others.
        let ends = [512, 1024, 8192, 16384];
        let around = ends.iter().flat_map(|&end| [end - 1, end, end + 1, end + 37]);
        compare_of(dtype, &text, around.chain([700, 5000, 20_000]), true);
    }
}

#[test]
fn time_goes_into_instructions_of_cranelift_where_there_is_no_function() {
    let text = function_text("exp", "float64", 8);
    assert!(is_hot(&text, None));
    for registers in Registers::known() {
        assert!(!is_hot(&text, Some(registers)), "{registers:?}");
    }
    let scan = "scan\nread float64 1 0\nload 0 0\nstate float64 0 2\nop add float64 float64,float64 1 1\nwrite float64 0 1";
    assert!(is_hot(scan, Registers::best()));
}

/// Asserts that a kernel writes the same bits with functions of vectors and without, of rows of these lengths.
pub(super) fn compare(name: &str, text: &str, lengths: impl Iterator<Item = usize>) {
    compare_of(name, text, lengths, false);
}

/// As [`compare`], where all floats may have to be finite: a NaN would hide what becomes of others.
fn compare_of(name: &str, text: &str, lengths: impl Iterator<Item = usize>, finite: bool) {
    // What has no code for this processor is looked at by the tests above alone.
    let mut all: Vec<Option<Registers>> = Registers::known().map(Some).collect();
    if all.is_empty() {
        return;
    }
    all.push(None);
    let Kernel::Loop(kernel) = read(text).unwrap() else { panic!("it is a loop") };
    let codes: Vec<_> = all
        .iter()
        .map(|&vectors| compile_with(&[text], vectors, frazil_runtime::kernel_function))
        .collect();
    for length in lengths {
        for (rows, stays) in [(1, false), (3, false), (5, true), (21, false), (83, true)] {
            if rows > 5 && length > 34 {
                continue;
            }
            let run_one = |code: &Code| {
                let mut own = operands(&kernel, rows, length, stays);
                if finite {
                    make_finite(&kernel, &mut own.memory);
                }
                run(code.addresses()[0], &mut own, rows, length);
                own.memory
            };
            let mut made: Vec<_> = codes.iter().map(run_one).collect();
            let plain = made.pop().expect("it is the last one");
            let reads = kernel.reads.iter().map(|own| own.dtype);
            let sources = kernel.sources.iter().map(|own| own.dtype);
            let writes = kernel.writes.iter().map(|own| own.dtype);
            let puts = kernel.puts.iter().map(|own| own.dtype);
            let dtypes = reads.chain(sources).chain(writes).chain(puts);
            for (at, dtype) in dtypes.enumerate() {
                for (own, registers) in made.iter().zip(&all) {
                    let fits = same(dtype, &plain[at], &own[at]);
                    assert!(fits, "{name}: operand {at}, {rows} x {length}, {registers:?}");
                }
            }
        }
    }
}
