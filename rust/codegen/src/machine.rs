//! From kernels to code that runs.

use crate::debugger::Told;
use crate::dtype::Dtype;
use crate::emit::{Emitter, MADE};
use crate::error::CodegenError;
use crate::jitdump;
use crate::kernel::Kernel;
use crate::op::Op;
use crate::pages::Pages;
use crate::passes::Passes;
use crate::read::read;
use crate::registers::Registers;
use crate::steps::write_scan;
use crate::verify::verify;
use crate::walk::write_loop;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, ExternalName, Function, Signature, UserFuncName};
use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{FinalizedMachReloc, FinalizedRelocTarget};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use once_cell::race::OnceBox;
use std::ops::Range;
use std::path::Path;

/// The alignment of each function, in bytes: a line of the processor's cache.
const ALIGNMENT: usize = 64;

/// The code of some kernels, which lives as long as this.
#[derive(Debug)]
pub struct Code {
    /// The entry for debuggers, if they were told of it.
    #[expect(dead_code, reason = "it lives as long as the code, and ends before")]
    told: Option<Told>,
    pages: Pages,
    /// The entry of each kernel: a jump to the address in its slot.
    entries: Vec<usize>,
}

impl Code {
    /// The address of each kernel, in order.
    pub fn addresses(&self) -> Vec<usize> {
        self.entries.iter().map(|entry| self.pages.start() + entry).collect()
    }

    /// Lets calls of kernel number `at`, from now on, be calls of the function at `address`. Calls
    /// that have begun go on as they are.
    ///
    /// # Safety
    /// There is a function that does the same as the kernel, and it lives as long as this.
    ///
    /// # Panics
    /// If there is no such kernel.
    pub unsafe fn replace(&self, at: usize, address: usize) {
        self.pages.set_slot(at, address);
    }
}

/// Whether this machine can run what [`compile`] makes.
///
/// # Errors
/// If the processor is unknown, or as for [`may_run_code`].
pub fn is_available() -> Result<(), CodegenError> {
    makers()?;
    may_run_code()
}

/// Whether this process may run code that it makes, whoever makes it. The system may forbid it at any
/// time, so that it is tried.
///
/// # Errors
/// If the system gives no memory for it.
pub fn may_run_code() -> Result<(), CodegenError> {
    Pages::of(&[0; 16], &[]).map(drop)
}

/// Whether a kernel may hold the op, with such operands and result; all by name.
pub fn lowers(op: &str, operands: &[&str], result: &str) -> bool {
    let operands: Option<Vec<Dtype>> = operands.iter().map(|name| Dtype::named(name)).collect();
    match (Op::named(op), operands, Dtype::named(result)) {
        (Some(op), Some(operands), Some(result)) => op.takes(&operands, result),
        _ => false,
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn jump(_ahead: usize) -> Option<[u8; JUMP]> {
    unreachable!("no code is made for this processor")
}

/// Instructions of kernels one after the other, and where each begins and ends.
pub(crate) struct Assembled {
    pub(crate) code: Vec<u8>,
    pub(crate) ranges: Vec<Range<usize>>,
}

/// The instructions of the kernels that the texts describe, for that processor, with functions of vectors if these are
/// given. `address` gives those of functions by name.
pub(crate) fn assemble(
    texts: &[&str],
    makers: &Makers,
    vectors: Option<Registers>,
    address: impl Fn(&str) -> Option<usize>,
) -> Result<Assembled, CodegenError> {
    let mut builder = FunctionBuilderContext::new();
    let mut passes = Passes::new();
    let mut all = Assembled { code: Vec::new(), ranges: Vec::new() };
    for text in texts {
        let kernel = kernel_of(text)?;
        let written = write(&kernel, &*makers.thorough, passes.next(), &mut builder, vectors);
        let made = passes.compile(makers.of(&written))?;
        let code = &mut all.code;
        let start = code.len().next_multiple_of(ALIGNMENT);
        code.resize(start, 0);
        code.extend_from_slice(made.code_buffer());
        let mut starts = Vec::new();
        for function in &written.vectors {
            code.resize(code.len().next_multiple_of(ALIGNMENT), 0);
            starts.push(code.len());
            code.extend_from_slice(function);
        }
        for relocation in made.buffer.relocs() {
            let place = start + relocation.offset as usize;
            match called(relocation, passes.function())? {
                Called::Named(index) => {
                    let name = &written.names[index];
                    let given =
                        address(name).ok_or_else(|| CodegenError::Unknown(name.to_owned()))?;
                    let value = (given as i64).wrapping_add(relocation.addend);
                    code[place..place + 8].copy_from_slice(&value.to_le_bytes());
                }
                Called::Made(index) => {
                    let ahead = starts[index] as i64 - place as i64 + relocation.addend;
                    let ahead = i32::try_from(ahead).map_err(|_| too_far())?;
                    code[place..place + 4].copy_from_slice(&ahead.to_le_bytes());
                }
            }
        }
        all.ranges.push(start..code.len());
    }
    Ok(all)
}

/// The code of the kernels that the texts describe. `address` gives those of functions by name.
/// Profilers are told of it by a file in the folder `dump`; debuggers are told then, too.
///
/// # Errors
/// If a text describes no kernel, a function has no address, or no memory may hold code.
pub fn compile(
    texts: &[&str],
    address: impl Fn(&str) -> Option<usize>,
    dump: Option<&Path>,
) -> Result<Code, CodegenError> {
    made_of(assemble(texts, makers()?, Registers::best(), address)?, texts, dump)
}

/// Lets code run.
fn made_of(
    assembled: Assembled,
    texts: &[&str],
    dump: Option<&Path>,
) -> Result<Code, CodegenError> {
    let Assembled { mut code, ranges } = assembled;
    let entries = add_entries(&mut code, texts.len())?;
    let offsets: Vec<usize> = ranges.iter().map(|range| range.start).collect();
    let pages = Pages::of(&code, &offsets)?;
    for (at, offset) in offsets.iter().enumerate() {
        pages.set_slot(at, pages.start() + offset);
    }
    let mut told = None;
    if let Some(folder) = dump {
        let kernels = texts.iter().zip(&ranges).map(|(text, range)| {
            (name_of(text), pages.start() + range.start, &code[range.clone()])
        });
        jitdump::write(folder, kernels.clone()).map_err(CodegenError::Dump)?;
        let named: Vec<_> = kernels.map(|(name, start, code)| (name, start, code.len())).collect();
        told = Some(Told::of(&named));
    }
    Ok(Code { told, pages, entries })
}

/// The code of kernels, with or without functions of vectors.
#[cfg(test)]
pub(crate) fn compile_with(
    texts: &[&str],
    vectors: Option<Registers>,
    address: impl Fn(&str) -> Option<usize>,
) -> Code {
    made_of(assemble(texts, makers().unwrap(), vectors, address).unwrap(), texts, None).unwrap()
}

/// The number of functions of such vectors that the kernel of a text has, and the names of others that it calls.
#[cfg(test)]
pub(crate) fn callees(text: &str, vectors: Registers) -> (usize, Vec<String>) {
    let (kernel, mut function) = (kernel_of(text).unwrap(), Function::new());
    let mut context = FunctionBuilderContext::new();
    let written =
        write(&kernel, &*makers().unwrap().thorough, &mut function, &mut context, Some(vectors));
    (written.vectors.len(), written.names)
}

/// Whether a call's time may go into instructions of Cranelift's.
#[cfg(test)]
pub(crate) fn is_hot(text: &str, vectors: Option<Registers>) -> bool {
    let (kernel, mut function) = (kernel_of(text).unwrap(), Function::new());
    let mut context = FunctionBuilderContext::new();
    let maker = &*makers().unwrap().thorough;
    write(&kernel, maker, &mut function, &mut context, vectors).is_hot
}

/// The name of a kernel for profilers: its ops, as many as a line has room for.
fn name_of(text: &str) -> String {
    const MOST: usize = 80;
    let mut lines = text.lines();
    let kind = lines.next().and_then(|line| line.split(' ').next()).unwrap_or_default();
    let mut name = format!("frazil_{kind}");
    for line in lines {
        let mut words = line.split(' ');
        let (first, second, third) = (words.next(), words.next(), words.next());
        let op = match (first, second, third) {
            (Some("op" | "same"), Some(op), _) => op,
            (Some("fold"), _, Some(reduce)) => reduce,
            _ => continue,
        };
        if name.len() + op.len() > MOST {
            name.push_str("_and_more");
            break;
        }
        name.push('_');
        name.push_str(op);
    }
    name
}

/// Adds to the code, for each of so many kernels, a jump to the address in its slot.
fn add_entries(code: &mut Vec<u8>, count: usize) -> Result<Vec<usize>, CodegenError> {
    code.resize(code.len().next_multiple_of(JUMP), 0);
    let first = code.len();
    let slots = Pages::code_bytes(first + count * JUMP);
    for at in 0..count {
        let ahead = slots + at * size_of::<usize>() - code.len();
        code.extend_from_slice(&jump(ahead).ok_or_else(too_far)?);
    }
    Ok((0..count).map(|at| first + at * JUMP).collect())
}

fn too_far() -> CodegenError {
    CodegenError::Refused("its parts lie further apart than an instruction can reach".to_owned())
}

/// Bytes from one entry to the next: as many as the longest jump has on any processor.
const JUMP: usize = 16;

/// A jump to the address that is stored so many bytes ahead; `None` if that is too far.
#[cfg(target_arch = "x86_64")]
fn jump(ahead: usize) -> Option<[u8; JUMP]> {
    // jmp [rip + distance], counted from behind it; int3 where nothing comes.
    let mut bytes = [0xcc; JUMP];
    bytes[..2].copy_from_slice(&[0xff, 0x25]);
    let distance = i32::try_from(ahead.checked_sub(6)?).ok()?;
    bytes[2..6].copy_from_slice(&distance.to_le_bytes());
    Some(bytes)
}

/// A jump to the address that is stored so many bytes ahead; `None` if that is too far, or not aligned.
#[cfg(target_arch = "aarch64")]
fn jump(ahead: usize) -> Option<[u8; JUMP]> {
    if ahead >= 1 << 24 || !ahead.is_multiple_of(8) {
        return None;
    }
    // The distance in two parts of 12 bits, as many as an instruction holds: adr x16, .; add x16,
    // x16, high; ldr x16, [x16, low]; br x16.
    let (high, low) = ((ahead >> 12) as u32, (ahead & 0xfff) as u32 / 8);
    let words = [0x1000_0010, 0x9140_0210 | high << 10, 0xf940_0210 | low << 10, 0xd61f_0200];
    let mut bytes = [0; JUMP];
    for (at, word) in words.into_iter().enumerate() {
        bytes[4 * at..4 * at + 4].copy_from_slice(&u32::to_le_bytes(word));
    }
    Some(bytes)
}

/// The instructions of the kernel that a text describes, as Cranelift prints them, and the names of
/// the functions that it calls, by number. They are those of all processors, without functions of vectors.
///
/// # Errors
/// As for [`compile`].
pub fn clif(text: &str) -> Result<(String, Vec<String>), CodegenError> {
    let kernel = kernel_of(text)?;
    let mut function = Function::new();
    let mut context = FunctionBuilderContext::new();
    let written = write(&kernel, &*makers()?.thorough, &mut function, &mut context, None);
    Ok((function.display().to_string(), written.names))
}

fn kernel_of(text: &str) -> Result<Kernel, CodegenError> {
    let kernel = read(text)?;
    verify(&kernel)?;
    Ok(kernel)
}

/// The functions that a kernel calls: the names of some, and the code of those that are made with it.
struct Written {
    names: Vec<String>,
    vectors: Vec<Vec<u8>>,
    is_hot: bool,
}

/// Fills `function` with the instructions of a kernel, for the signature that [`frazil_runtime::KernelFn`] has.
fn write(
    kernel: &Kernel,
    target: &dyn TargetIsa,
    function: &mut Function,
    context: &mut FunctionBuilderContext,
    vectors: Option<Registers>,
) -> Written {
    let convention = target.default_call_conv();
    let mut signature = Signature::new(convention);
    signature.params.extend([AbiParam::new(I64); 4]);
    signature.returns.push(AbiParam::new(I32));
    function.signature = signature;
    function.name = UserFuncName::user(0, 0);
    let mut emitter = Emitter::new(FunctionBuilder::new(function, context), convention, vectors);
    match kernel {
        Kernel::Loop(own) => write_loop(&mut emitter, own),
        Kernel::Scan(own) => write_scan(&mut emitter, own),
    }
    emitter.b.finalize(target.frontend_config());
    let is_hot = emitter.is_hot;
    Written { names: emitter.names, vectors: emitter.made, is_hot }
}

/// A function that is called, by its number.
enum Called {
    /// Its address belongs where the relocation says.
    Named(usize),
    /// It is made with the kernel; the distance to it belongs there.
    Made(usize),
}

/// The function that a relocation is about.
fn called(relocation: &FinalizedMachReloc, function: &Function) -> Result<Called, CodegenError> {
    if let FinalizedRelocTarget::ExternalName(ExternalName::User(name)) = &relocation.target {
        let name = &function.params.user_named_funcs()[*name];
        let index = name.index as usize;
        match (relocation.kind, name.namespace) {
            (Reloc::Abs8, 0) => return Ok(Called::Named(index)),
            (Reloc::X86CallPCRel4, MADE) => return Ok(Called::Made(index)),
            _ => {}
        }
    }
    Err(CodegenError::Refused(format!("it needs {relocation:?}")))
}

/// The makers of code for this processor.
fn makers() -> Result<&'static Makers, CodegenError> {
    static MAKERS: OnceBox<Result<Makers, String>> = OnceBox::new();
    match MAKERS.get_or_init(|| Box::new(find_makers())) {
        Ok(makers) => Ok(makers),
        Err(fault) => Err(CodegenError::Processor(fault.clone())),
    }
}

fn find_makers() -> Result<Makers, String> {
    let mut builder =
        isa::lookup(target_lexicon::Triple::host()).map_err(|error| error.to_string())?;
    enable_host(&mut builder)?;
    Makers::new(&builder)
}

/// Makers of code for a processor, which differ in how they find registers for values.
pub(crate) struct Makers {
    thorough: OwnedTargetIsa,
    /// In half of the time, with more moves between registers and memory.
    quick: OwnedTargetIsa,
}

impl Makers {
    pub(crate) fn new(builder: &isa::Builder) -> Result<Makers, String> {
        let (thorough, quick) = ("backtracking", "single_pass");
        Ok(Makers { thorough: finished(builder, thorough)?, quick: finished(builder, quick)? })
    }

    /// The maker of a kernel. What goes from row to row takes little of a call's time: there more moves are worth less than
    /// what it takes to avoid them.
    fn of(&self, written: &Written) -> &dyn TargetIsa {
        if written.is_hot { &*self.thorough } else { &*self.quick }
    }
}

fn finished(builder: &isa::Builder, algorithm: &str) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    // Values are used where they are made, so there is little to be made better, and compiling
    // takes half as long.
    let chosen = [
        ("opt_level", "none"),
        ("regalloc_algorithm", algorithm),
        ("is_pic", "false"),
        ("unwind_info", "false"),
    ];
    for (name, value) in chosen {
        flags.set(name, value).map_err(|error| format!("{name}: {error}"))?;
    }
    builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

#[cfg(target_arch = "x86_64")]
fn enable_host(builder: &mut isa::Builder) -> Result<(), String> {
    macro_rules! known {
        ($($flag:literal $feature:tt;)*) => {
            [$(($flag, is_x86_feature_detected!($feature)),)*]
        };
    }
    let known = known! {
        "has_sse3" "sse3";
        "has_ssse3" "ssse3";
        "has_sse41" "sse4.1";
        "has_sse42" "sse4.2";
        "has_popcnt" "popcnt";
        "has_avx" "avx";
        "has_avx2" "avx2";
        "has_fma" "fma";
        "has_bmi1" "bmi1";
        "has_bmi2" "bmi2";
        "has_lzcnt" "lzcnt";
        "has_avx512f" "avx512f";
        "has_avx512dq" "avx512dq";
        "has_avx512vl" "avx512vl";
    };
    let most = frazil_runtime::register_limit().unwrap_or(512);
    for (flag, has) in known {
        let bits = match flag {
            "has_avx" | "has_avx2" | "has_fma" => 256,
            _ if flag.starts_with("has_avx512") => 512,
            _ => 128,
        };
        if has && bits <= most {
            builder.enable(flag).map_err(|error| format!("{flag}: {error}"))?;
        } else if flag.starts_with("has_sse") || flag == "has_ssse3" {
            return Err(format!("it lacks {}", &flag[4..]));
        }
    }
    Ok(())
}

#[cfg(target_arch = "aarch64")]
fn enable_host(_builder: &mut isa::Builder) -> Result<(), String> {
    Ok(())
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn enable_host(_builder: &mut isa::Builder) -> Result<(), String> {
    Err("kernels are entered by a jump, which is known for x86-64 and aarch64 alone".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_reaches_no_further_than_its_instruction() {
        assert!(jump(1 << 20).is_some());
        for ahead in [1 << 32, 1 << 40, usize::MAX & !7] {
            assert!(jump(ahead).is_none(), "{ahead}");
        }
    }
}
