//! Kernels for aarch64, from the same descriptions: they are compiled on any machine, and with the
//! feature `emulated` run by `qemu-aarch64`.

use crate::machine::{Makers, assemble};
use cranelift_codegen::isa;

macro_rules! kernels {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../tests/link/clif/", $name, ".clif")))),*]
    };
}

/// Files that begin with the description of a kernel.
const FILES: [(&str, &str); 10] = kernels![
    "arithmetic",
    "comparison",
    "element_loop",
    "function",
    "integers",
    "narrow",
    "rows",
    "scan",
    "sum",
    "take"
];

fn description(name: &str) -> &'static str {
    let (_, text) = FILES.iter().find(|(own, _)| *own == name).unwrap();
    text.split("\n\n").next().unwrap()
}

fn makers() -> Makers {
    let triple: target_lexicon::Triple = "aarch64-unknown-linux-gnu".parse().unwrap();
    Makers::new(&isa::lookup(triple).unwrap()).unwrap()
}

#[test]
fn kernels_of_every_kind_have_code_for_aarch64() {
    for (name, _) in FILES {
        let made = assemble(&[description(name)], &makers(), None, |_| Some(0x1234_5678)).unwrap();
        let code = &made.code[made.ranges[0].clone()];
        assert!(!code.is_empty() && code.len() % 4 == 0, "{name}");
        // ret
        let returns = code.chunks(4).any(|word| word == 0xd65f_03c0_u32.to_le_bytes());
        assert!(returns, "{name}");
    }
}

#[cfg(feature = "emulated")]
mod emulated {
    use super::{description, makers};
    use crate::machine::assemble;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    /// Elements, and the bytes of what an operand has.
    const COUNT: u64 = 13;
    const OPERAND: usize = 1024;
    /// The memory of a program: operands, pointers to them, and strides.
    const MEMORY: usize = 5 * OPERAND;
    const POINTERS: usize = 4 * OPERAND;
    const STRIDES: usize = POINTERS + 64;
    /// The addresses of a program and of its memory.
    const BASE: u64 = 0x40_0000;
    const DATA: usize = 0x1_0000;

    /// Memory at an address: operands that are numbers from 1 on, in eighths.
    fn memory(base: u64) -> Vec<u8> {
        let numbers = (0..POINTERS / 8).map(|k| (1.0 + k as f64 / 8.0).to_bits());
        let pointers = (0..8).map(|k| base + (k % 4) * OPERAND as u64);
        let mut made: Vec<u8> =
            numbers.chain(pointers).chain([8; 8]).flat_map(u64::to_le_bytes).collect();
        made.resize(MEMORY, 0);
        made
    }

    /// The instructions that let register `to` hold a number.
    fn load(to: u32, value: u64) -> impl Iterator<Item = u32> {
        (0..4).map(move |part| {
            let bits = (value >> (16 * part)) as u32 & 0xffff;
            let op = if part == 0 { 0xd280_0000 } else { 0xf280_0000 };
            op | part << 21 | bits << 5 | to
        })
    }

    /// A program that calls the kernel behind it, writes its memory and ends.
    fn program(kernel: &[u8], outer: u64) -> Vec<u8> {
        const CALL: u32 = 0xd400_0001;
        const BEGINS: u64 = 120;
        const KERNEL: u64 = 1024;
        let data = BASE + DATA as u64;
        let words: Vec<u32> = load(0, data + POINTERS as u64)
            .chain(load(1, outer))
            .chain(load(2, COUNT))
            .chain(load(3, data + STRIDES as u64))
            .chain(load(9, BASE + KERNEL))
            .chain([0xd63f_0120]) // blr x9
            .chain([0xaa00_03f3]) // mov x19, x0
            .chain(load(0, 1))
            .chain(load(1, data))
            .chain(load(2, MEMORY as u64))
            .chain(load(8, 64))
            .chain([CALL, 0xaa13_03e0]) // mov x0, x19
            .chain(load(8, 93))
            .chain([CALL])
            .collect();
        let size = (DATA + MEMORY) as u64;
        let mut made: Vec<u8> = b"\x7fELF\x02\x01\x01".to_vec();
        made.resize(16, 0);
        let halves =
            |values: &[u16]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
        let wholes =
            |values: &[u64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
        made.extend(halves(&[2, 183, 1, 0]));
        made.extend(wholes(&[BASE + BEGINS, 64, 0]));
        made.extend(halves(&[0, 0, 64, 56, 1, 0, 0, 0]));
        // One segment, which is read, written and run; this is no process of ours.
        made.extend(halves(&[1, 0, 7, 0]));
        made.extend(wholes(&[0, BASE, BASE, size, size, 0x1000]));
        assert_eq!(made.len() as u64, BEGINS);
        made.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        assert!(made.len() as u64 <= KERNEL && kernel.len() < DATA - KERNEL as usize);
        made.resize(KERNEL as usize, 0);
        made.extend(kernel);
        made.resize(DATA, 0);
        made.extend(memory(data));
        made
    }

    /// The operands after a run of the kernel on this machine.
    fn expected(text: &str) -> Vec<u8> {
        let code = crate::compile(&[text], |_| None, None).unwrap();
        let mut own = memory(0);
        let base = own.as_mut_ptr() as u64;
        own.copy_from_slice(&memory(base));
        type Kernel = unsafe extern "C" fn(u64, u64, u64, u64) -> i32;
        // SAFETY: the address is that of a kernel, and its operands have room for so many elements.
        let status = unsafe {
            let kernel: Kernel = std::mem::transmute(code.addresses()[0]);
            kernel(base + POINTERS as u64, outer(text), COUNT, base + STRIDES as u64)
        };
        assert_eq!(status, 0);
        own.truncate(POINTERS);
        own
    }

    /// A scan takes its steps where a loop takes its rows.
    fn outer(text: &str) -> u64 {
        if text.starts_with("scan") { COUNT } else { 1 }
    }

    #[test]
    fn kernels_give_the_same_bits_on_aarch64() {
        let folder = std::env::temp_dir().join(format!("frazil-aarch64-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["arithmetic", "comparison", "integers", "narrow", "scan"] {
            let text = description(name);
            let made = assemble(&[text], &makers(), None, |_| None).unwrap();
            let bytes = program(&made.code[made.ranges[0].clone()], outer(text));
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
            let run = Command::new("timeout")
                .args(["10", "qemu-aarch64"])
                .arg(&path)
                .output()
                .expect("qemu-user is installed");
            assert!(run.status.success(), "{name}: {run:?}");
            assert_eq!(run.stdout.len(), MEMORY, "{name}");
            assert_eq!(run.stdout[..POINTERS], expected(text)[..], "{name}");
            assert_ne!(run.stdout[..POINTERS], memory(0)[..POINTERS], "{name} wrote something");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
