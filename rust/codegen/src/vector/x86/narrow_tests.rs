//! Kernels on elements of all sizes, alone and mixed: with functions of vectors they have the same bits as without.

use crate::dtype::{Dtype, Kind};
use crate::machine::callees;
use crate::op::Op;
use crate::vector::Registers;
use crate::vector::x86::tests::compare;

const DTYPES: [&str; 12] = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
];
const LENGTHS: [usize; 7] = [0, 1, 8, 17, 64, 130, 5000];

/// The elements of a block: as many of the widest as a line of the cache holds.
fn lanes(dtypes: &[&str]) -> u32 {
    64 / dtypes.iter().map(|name| Dtype::named(name).unwrap().size()).max().unwrap()
}

/// A kernel that writes what an op makes of its operands, all of one type.
fn op_text(op: Op, dtype: &str, result: &str) -> String {
    let count = op.arity();
    let lanes = lanes(&[dtype, result]);
    let reads = format!("read {dtype} 1\n").repeat(count);
    let operands = vec![dtype; count].join(",");
    let args = (0..count).map(|k| k.to_string()).collect::<Vec<_>>();
    format!(
        "loop {lanes} 0\n{reads}op {} {result} {operands} {}\nwrite {count} {result} 1 -\npass\n\
         varying {count}\nreads {}\nwrites 0",
        op.name(),
        args.join(" "),
        args.join(" ")
    )
}

fn has_function(op: Op, dtype: Dtype) -> bool {
    let divides = matches!(op, Op::Floordiv | Op::Mod | Op::Fmod);
    !divides || !dtype.is_float() && dtype.size() < 8
}

fn ops() -> impl Iterator<Item = Op> {
    [
        "add",
        "sub",
        "mul",
        "neg",
        "sqr",
        "abs",
        "sign",
        "minimum",
        "maximum",
        "clip",
        "floor",
        "eq",
        "neq",
        "lt",
        "le",
        "gt",
        "ge",
        "and_",
        "or_",
        "xor",
        "invert",
        "isnan",
        "isfinite",
        "fmin",
        "fmax",
        "signbit",
        "left_shift",
        "right_shift",
        "copysign",
        "floordiv",
        "mod",
        "fmod",
    ]
    .into_iter()
    .map(|name| Op::named(name).unwrap())
}

#[test]
fn ops_on_elements_of_every_size() {
    let mut some = 0;
    for op in ops() {
        for name in DTYPES {
            let dtype = Dtype::named(name).unwrap();
            for (result, made) in [(name, dtype), ("bool", Dtype::Bool)] {
                if !op.takes(&vec![dtype; op.arity()], made) || name == "bool" && result != name {
                    continue;
                }
                let text = op_text(op, name, result);
                if !has_function(op, dtype) {
                    continue;
                }
                assert_eq!(
                    callees(&text, Registers::Of512).0,
                    1,
                    "{} of {name} has no function",
                    op.name()
                );
                compare(op.name(), &text, LENGTHS.into_iter());
                some += 1;
            }
        }
    }
    assert!(some > 250, "{some}");
}

#[test]
fn choices_between_elements_of_every_size() {
    for name in DTYPES.into_iter().filter(|name| *name != "float16") {
        let text = format!(
            "loop {} 0\nread bool 1\nread {name} 1\nread {name} 0\nop where {name} bool,{name},{name} 0 1 2\n\
             write 3 {name} 1 -\npass\nvarying 3\nreads 0 1\nwrites 0",
            lanes(&[name])
        );
        assert_eq!(callees(&text, Registers::Of512).0, 1, "{name}");
        compare(name, &text, LENGTHS.into_iter());
    }
}

#[test]
fn conversions_between_elements_of_every_size() {
    for from in DTYPES {
        for to in DTYPES {
            let text = format!(
                "loop {} 0\nread {from} 1\nop cast {to} {from} 0\nwrite 1 {to} 1 -\npass\nvarying 1\n\
                 reads 0\nwrites 0",
                lanes(&[from, to])
            );
            assert_eq!(callees(&text, Registers::Of512).0, 1, "{from} as {to}");
            compare(&format!("{from} as {to}"), &text, LENGTHS.into_iter());
        }
    }
}

#[test]
fn folds_of_elements_of_every_size() {
    for name in DTYPES.into_iter().filter(|name| *name != "float16") {
        let dtype = Dtype::named(name).unwrap();
        let whole = match dtype.kind() {
            Kind::Float => name,
            Kind::Unsigned => "uint64",
            _ => "int64",
        };
        let own = if dtype == Dtype::Bool { "or_" } else { "maximum" };
        for (fold, to) in [("add", whole), (own, name), ("minimum", name), ("mul", whole)] {
            // As few lanes as the widest has, or as many as the narrowest.
            for lanes in [lanes(&[name, to]), 64 / dtype.size()] {
                for (write, count) in [
                    ("write 0 {to} 0 {fold}\n", 1),
                    ("write 0 {to} 0 {fold}\nwrite 0 {name} 1 -\n", 2),
                ] {
                    let write =
                        write.replace("{to}", to).replace("{fold}", fold).replace("{name}", name);
                    let writes = if count == 1 { "0" } else { "0 1" };
                    let text = format!(
                        "loop {lanes} 0\nread {name} 1\n{write}pass\nreads 0\nwrites {writes}"
                    );
                    assert!(callees(&text, Registers::Of512).0 >= 2, "{fold} of {name}");
                    compare(&format!("{fold} of {name}, {lanes}"), &text, LENGTHS.into_iter());
                }
            }
        }
    }
}

/// Several sizes in one loop, with folds of floats, of integers and of bools.
#[test]
fn loops_of_several_sizes() {
    for lanes in [8, 64] {
        let text = format!(
            "loop {lanes} 0\nread bool 1\nread float64 1\nread int8 1\nread float32 0\n\
             literal float64 0\nop where float64 bool,float64,float64 0 1 4\n\
             op gt bool float64,float64 1 4\nop add float32 float32,float32 2 3\n\
             op exp float64 float64 7\nop mul float64 float64,float64 5 8\n\
             write 9 float64 1 -\nwrite 6 bool 1 -\nwrite 5 float64 0 add\nwrite 2 int64 0 add\n\
             write 6 bool 0 or_\nwrite 0 bool 0 and_\nwrite 7 int16 1 -\nwrite 7 float16 1 -\npass\n\
             varying 5 6 7 8 9\nreads 0 1 2\nwrites 0 1 2 3 4 5 6 7"
        );
        assert!(callees(&text, Registers::Of512).0 >= 2);
        compare("several sizes", &text, LENGTHS.into_iter());
    }
}

/// A fold of bools that ends early: wherever the element stands that decides it.
#[test]
fn bools_folded_in_pieces() {
    for fold in ["or_", "and_", "add", "mul"] {
        for (read, op) in [
            ("bool", ""),
            ("float64", "op gt bool float64,float64 0 1\n"),
            ("int8", "op eq bool int8,int8 0 1\n"),
        ] {
            let (value, varying) = if op.is_empty() { (0, "") } else { (2, "varying 2\n") };
            let text = format!(
                "loop {} 0\nread {read} 1\nread {read} 0\n{op}write {value} bool 0 {fold}\npass\n{varying}\
                 reads 0\nwrites 0",
                lanes(&[read])
            );
            assert!(callees(&text, Registers::Of512).0 >= 2, "{fold} {read}");
            compare(&format!("{fold} of {read}"), &text, LENGTHS.into_iter());
        }
    }
}

/// Functions of float32 beside float64, so in shorter registers: their tables are as long as ever.
#[test]
fn functions_of_float32_in_short_registers() {
    for name in ["exp", "log", "tanh", "erf", "cbrt", "expm1", "log1p"] {
        let text = format!(
            "loop 8 0\nread float32 1\nread float64 1\nop {name} float32 float32 0\n\
             op mul float64 float64,float64 2 1\nwrite 3 float64 1 -\npass\nvarying 2 3\n\
             reads 0 1\nwrites 0"
        );
        assert_eq!(callees(&text, Registers::Of512), (1, Vec::new()), "{name}");
        compare(name, &text, LENGTHS.into_iter());
    }
}
