//! Names of kernels for debuggers, as GDB and LLDB ask for them: they read a list in this process's memory, of object
//! files that name the code. A debugger stops in a function that is called after each change of the list.

use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An object file of the list.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    size: u64,
}

/// The list, and what was done with it last.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    changed: *mut Entry,
    first: *mut Entry,
}

const ADDED: u32 = 1;
const REMOVED: u32 = 2;

/// The list that debuggers read; who changes it holds [`LOCK`].
#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: Descriptor =
    Descriptor { version: 1, action: 0, changed: null_mut(), first: null_mut() };

static LOCK: Mutex<()> = Mutex::new(());

/// The function that debuggers stop in. It has to be called, and does nothing.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // SAFETY: there is no instruction in it.
    unsafe { std::arch::asm!("") };
}

/// Keeps the list as it is while this lives.
pub struct StillList(#[expect(dead_code, reason = "it is held, not read")] MutexGuard<'static, ()>);

/// Waits until nobody changes the list, and lets nobody change it.
pub fn hold_list() -> StillList {
    StillList(lock())
}

fn lock() -> MutexGuard<'static, ()> {
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kernels that debuggers know as long as this lives.
#[derive(Debug)]
pub(crate) struct Told {
    entry: *mut Entry,
    /// The object file, which the entry refers to.
    _file: Vec<u8>,
}

// SAFETY: the entry is changed under the lock alone, and the file never.
unsafe impl Send for Told {}
// SAFETY: as above.
unsafe impl Sync for Told {}

impl Told {
    /// Tells debuggers of kernels, each by its name, where it lies and its bytes.
    pub(crate) fn of(kernels: &[(String, usize, usize)]) -> Told {
        let file = object_file(kernels);
        let entry = Box::into_raw(Box::new(Entry {
            next: null_mut(),
            previous: null_mut(),
            file: file.as_ptr(),
            size: file.len() as u64,
        }));
        let _held = lock();
        // SAFETY: the lock is held, and entries of the list live.
        unsafe {
            let list = &raw mut __jit_debug_descriptor;
            (*entry).next = (*list).first;
            if let Some(first) = (*list).first.as_mut() {
                first.previous = entry;
            }
            (*list).first = entry;
            changed(ADDED, entry);
        }
        Told { entry, _file: file }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let _held = lock();
        // SAFETY: as in [`Told::of`]; the entry is in the list, and in no use after this.
        unsafe {
            let list = &raw mut __jit_debug_descriptor;
            let (next, previous) = ((*self.entry).next, (*self.entry).previous);
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => (*list).first = next,
            }
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            changed(REMOVED, self.entry);
            (*list).changed = null_mut();
            drop(Box::from_raw(self.entry));
        }
    }
}

/// Tells of a change.
///
/// # Safety
/// The lock is held.
unsafe fn changed(action: u32, entry: *mut Entry) {
    // SAFETY: by the caller's promise, the lock is held, so nobody else reads or writes the list.
    unsafe {
        let list = &raw mut __jit_debug_descriptor;
        (*list).action = action;
        (*list).changed = entry;
    }
    __jit_debug_register_code();
}

// ------------------------------------------------------------ the object file

const HEADER: u64 = 64;
const SECTION: u64 = 64;
const SYMBOL: u64 = 24;
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
/// The names of sections, and where each begins.
const NAMES: &[u8] = b"\0.text\0.symtab\0.strtab\0.shstrtab\0";
const NAMED: [u32; 5] = [0, 1, 7, 15, 23];

/// An ELF file without contents: a section where the code lies, and a symbol for each kernel.
fn object_file(kernels: &[(String, usize, usize)]) -> Vec<u8> {
    let start = kernels.iter().map(|own| own.1).min().unwrap_or(0) as u64;
    let end = kernels.iter().map(|own| own.1 + own.2).max().unwrap_or(0) as u64;
    let mut strings = vec![0];
    let mut symbols = vec![0; SYMBOL as usize];
    for (name, address, size) in kernels {
        symbols.extend((strings.len() as u32).to_le_bytes());
        // A global function of section 1.
        symbols.extend([0x12, 0, 1, 0]);
        symbols.extend((*address as u64 - start).to_le_bytes());
        symbols.extend((*size as u64).to_le_bytes());
        strings.extend(name.as_bytes());
        strings.push(0);
    }
    let symbols_at = HEADER;
    let strings_at = symbols_at + symbols.len() as u64;
    let names_at = strings_at + strings.len() as u64;
    let sections_at = (names_at + NAMES.len() as u64).next_multiple_of(8);
    let mut file: Vec<u8> = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    // A relocatable file of this processor.
    for half in [1, MACHINE, 1, 0] {
        file.extend(half.to_le_bytes());
    }
    for whole in [0, 0, sections_at] {
        file.extend(whole.to_le_bytes());
    }
    for half in [0, 0, HEADER as u16, 0, 0, SECTION as u16, NAMED.len() as u16, 4] {
        file.extend(half.to_le_bytes());
    }
    file.extend(&symbols);
    file.extend(&strings);
    file.extend(NAMES);
    file.resize(sections_at as usize, 0);
    // Kind, flags, address, place, bytes, the section it belongs to, more of it, alignment, bytes of an entry.
    let sections: [[u64; 9]; 5] = [
        [0; 9],
        [8, 6, start, 0, end - start, 0, 0, 16, 0],
        [2, 0, 0, symbols_at, symbols.len() as u64, 3, 1, 8, SYMBOL],
        [3, 0, 0, strings_at, strings.len() as u64, 0, 0, 1, 0],
        [3, 0, 0, names_at, NAMES.len() as u64, 0, 0, 1, 0],
    ];
    for (name, [kind, flags, address, at, size, link, info, alignment, entry]) in
        NAMED.iter().zip(sections)
    {
        file.extend(name.to_le_bytes());
        file.extend((kind as u32).to_le_bytes());
        for whole in [flags, address, at, size] {
            file.extend(whole.to_le_bytes());
        }
        file.extend((link as u32).to_le_bytes());
        file.extend((info as u32).to_le_bytes());
        for whole in [alignment, entry] {
            file.extend(whole.to_le_bytes());
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The addresses and sizes of the files in the list.
    fn listed() -> Vec<(usize, u64)> {
        let _held = lock();
        let mut found = Vec::new();
        // SAFETY: the lock is held, and entries of the list live.
        unsafe {
            let mut next = (&raw const __jit_debug_descriptor).read().first;
            while let Some(entry) = next.as_ref() {
                found.push((entry.file as usize, entry.size));
                next = entry.next;
            }
        }
        found
    }

    #[test]
    fn kernels_are_listed_as_long_as_they_live() {
        let made: Vec<Told> =
            (1..=3).map(|k| Told::of(&[(format!("kernel_{k}"), 4096 * k, 64)])).collect();
        let place = |own: &Told| (own._file.as_ptr() as usize, own._file.len() as u64);
        let places: Vec<(usize, u64)> = made.iter().map(place).collect();
        assert!(places.iter().all(|own| listed().contains(own)));
        let [first, second, third] = <[Told; 3]>::try_from(made).unwrap();
        drop(second);
        assert!(!listed().contains(&places[1]));
        assert!(listed().contains(&places[0]) && listed().contains(&places[2]));
        drop((first, third));
        assert!(places.iter().all(|own| !listed().contains(own)));
    }

    #[test]
    fn files_name_the_kernels() {
        let file = object_file(&[("one".into(), 4096, 64), ("two".into(), 4224, 32)]);
        let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        let sections = word(40) as usize;
        let text = sections + 64;
        assert_eq!([word(text + 16), word(text + 32)], [4096, 160]);
        assert_eq!([word(64 + 24 + 8), word(64 + 48 + 8), word(64 + 48 + 16)], [0, 128, 32]);
        assert!(file.windows(9).any(|own| own == b"\0one\0two\0"));
    }
}
