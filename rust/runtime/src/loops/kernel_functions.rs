//! Functions that native kernels call by address. They handle the partial results of float reductions
//! and operands at the end of a row, and say whether to stop; functions of single elements are in
//! `elements.rs`. They are the same for all kernels, so no compiler need make them again with each kernel.
//!
//! # Safety
//!
//! Kernels alone call them, and promise what the function that a name stands for asks of its caller ([`fold`], [`fold_rows`],
//! [`fold_columns`], [`carry`], [`pad_ends`], [`copy_ends`], [`kind_of_indices`]): each pointer is that of as many elements
//! as the numbers beside it say, aligned, and no memory that is written is another operand's. A kernel has it from whoever
//! wrote the kernel: `link/c/`, `link/numba/` and `rust/codegen` pass buffers of their own, and operands as
//! [`KernelFn`](crate::loops::loop_nest::KernelFn) describes them. [`kernel_function`] gives the address of a form for
//! this processor, [`Level::best`], so that the processor has the registers of the form that is called.

use crate::loops::elements::{element_function, next_float32, next_float64, power_of_integers};
use crate::loops::indices::kind_of_indices;
use crate::loops::normal::log_ndtr_of_scaled;
use crate::loops::partials::{
    Largest, Product, Smallest, Sum, carry, fold, fold_columns, fold_rows,
};
use crate::loops::row_ends::{copy_ends, pad_ends};
use crate::processor::Level;

/// Each function in all instruction sets, and the search for them by name. `WIDE` says whether a body
/// may use registers of AVX-512.
macro_rules! kernel_functions {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(mod $name {
            use super::*;

            /// # Safety
            /// As this file says.
            #[inline(always)]
            #[allow(unused_unsafe, reason = "the body of some is safe")]
            unsafe fn body<const WIDE: bool>($($argument: $kind),*) $(-> $result)? {
                // SAFETY: by the kernel's promise, which this file describes.
                unsafe { $body }
            }

            /// # Safety
            /// As this file says.
            pub(super) unsafe extern "C" fn plain($($argument: $kind),*) $(-> $result)? {
                // SAFETY: by the kernel's promise, which this file describes.
                unsafe { body::<false>($($argument),*) }
            }

            /// # Safety
            /// As this file says; the processor is of [`Level::Avx2`].
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            pub(super) unsafe extern "C" fn avx2($($argument: $kind),*) $(-> $result)? {
                // SAFETY: by the kernel's promise, which this file describes.
                unsafe { body::<false>($($argument),*) }
            }

            /// # Safety
            /// As this file says; the processor is of [`Level::Avx512`].
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            pub(super) unsafe extern "C" fn avx512($($argument: $kind),*) $(-> $result)? {
                // SAFETY: by the kernel's promise, which this file describes.
                unsafe { body::<true>($($argument),*) }
            }

            pub(super) fn address(level: Option<Level>) -> usize {
                crate::processor::by_level!(
                    level,
                    plain: plain as *const () as usize,
                    avx2: avx2 as *const () as usize,
                    avx512: avx512 as *const () as usize,
                )
            }
        })*

        /// The address of the function of that name, for this machine; `None` if there is none.
        pub fn kernel_function(name: &str) -> Option<usize> {
            let level = Level::best();
            match name {
                $(stringify!($name) => Some($name::address(level)),)*
                "log_ndtr_of_scaled" => Some(log_ndtr_of_scaled as *const () as usize),
                "power_of_integers" => Some(power_of_integers as *const () as usize),
                "nextafter_one_f4" => Some(next_float32 as *const () as usize),
                "nextafter_one_f8" => Some(next_float64 as *const () as usize),
                _ => element_function(name),
            }
        }
    };
}

/// Those of all sizes of elements, and those of all reductions of each float.
macro_rules! kernel_functions_of {
    (
        sizes { $($bits:ident: $pad:ident $copy:ident;)* }
        floats { $($float:ident: $carry:ident;)* }
        reductions { $($of:ident $operation:ident: $all:ident $rows:ident $columns:ident;)* }
    ) => {
        kernel_functions! {
            loop_stops() -> i32 { crate::threads::attention::stops() }
            kind_of_indices_i4(of: *const i32, count: i64, length: i64) -> i32 {
                kind_of_indices(of, count, length)
            }
            kind_of_indices_i8(of: *const i64, count: i64, length: i64) -> i32 {
                kind_of_indices(of, count, length)
            }
            $($pad(
                to: *mut $bits, from: *const u8, stride: i64, before: i64, rows: i64, count: i64, lanes: i64
            ) {
                pad_ends(to, from, stride, before, rows, count, lanes)
            }
            $copy(
                to: *mut u8, from: *const $bits, stride: i64, rows: i64, count: i64, lanes: i64
            ) {
                copy_ends(to, from, stride, rows, count, lanes)
            })*
            $($carry(sums: *mut $float, turn: i64, width: i64) { carry(sums, turn, width, -0.0) })*
            $($all(of: *mut $of, count: i64, walked: i64, lanes: i64) -> $of {
                fold::<_, $operation>(of, count, walked, lanes)
            }
            $rows(to: *mut $of, of: *mut $of, rows: i64, count: i64, walked: i64, lanes: i64) {
                fold_rows::<_, $operation, WIDE>(to, of, rows, count, walked, lanes)
            }
            $columns(to: *mut $of, sets: *const $of, count: i64, lanes: i64) {
                fold_columns::<_, $operation>(to, sets, count, lanes)
            })*
        }
    };
}

kernel_functions_of! {
    sizes {
        u8: pad_ends_8 copy_ends_8;
        u16: pad_ends_16 copy_ends_16;
        u32: pad_ends_32 copy_ends_32;
        u64: pad_ends_64 copy_ends_64;
    }
    floats { f32: carry_f4; f64: carry_f8; }
    reductions {
        f32 Sum: fold_all_add_f4 fold_rows_add_f4 fold_columns_add_f4;
        f64 Sum: fold_all_add_f8 fold_rows_add_f8 fold_columns_add_f8;
        f32 Product: fold_all_mul_f4 fold_rows_mul_f4 fold_columns_mul_f4;
        f64 Product: fold_all_mul_f8 fold_rows_mul_f8 fold_columns_mul_f8;
        f32 Largest: fold_all_maximum_f4 fold_rows_maximum_f4 fold_columns_maximum_f4;
        f64 Largest: fold_all_maximum_f8 fold_rows_maximum_f8 fold_columns_maximum_f8;
        f32 Smallest: fold_all_minimum_f4 fold_rows_minimum_f4 fold_columns_minimum_f4;
        f64 Smallest: fold_all_minimum_f8 fold_rows_minimum_f8 fold_columns_minimum_f8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels() -> impl Iterator<Item = Option<Level>> {
        Level::known().map(Some).chain([None])
    }

    #[test]
    fn folds_are_the_same_in_every_instruction_set() {
        type Function = unsafe extern "C" fn(*mut f64, i64, i64, i64) -> f64;
        let values: Vec<f64> = (0..128).map(|k| 1.0 + (k as f64 * 0.7).sin() / 3.0).collect();
        let made = [
            (fold_all_add_f8::address as fn(Option<Level>) -> usize, values.iter().sum::<f64>()),
            (fold_all_mul_f8::address, f64::NAN),
            (fold_all_maximum_f8::address, values.iter().copied().fold(f64::MIN, f64::max)),
            (fold_all_minimum_f8::address, values.iter().copied().fold(f64::MAX, f64::min)),
        ];
        for (lanes, count) in [(8, 32), (8, 64), (8, 128), (16, 64), (32, 128), (4, 64)] {
            for (at, (address, _)) in made.iter().enumerate() {
                let mut found = Vec::new();
                for level in levels() {
                    let mut own = values.clone();
                    // SAFETY: the address is that of such a function, and `own` is long enough.
                    let result = unsafe {
                        let function: Function = std::mem::transmute(address(level));
                        function(own.as_mut_ptr(), count, 3 * lanes, lanes)
                    };
                    found.push(result.to_bits());
                }
                assert!(found.iter().all(|&bits| bits == found[0]), "{at} of {count} by {lanes}");
            }
        }
        for (address, expected) in made {
            let mut own = values.clone();
            // SAFETY: as above.
            let result = unsafe {
                let function: Function = std::mem::transmute(address(None));
                function(own.as_mut_ptr(), 128, 0, 8)
            };
            assert!(expected.is_nan() || (result - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn rows_are_folded_alike_in_every_instruction_set() {
        fn check<T: Copy + PartialEq + std::fmt::Debug>(
            addresses: [fn(Option<Level>) -> usize; 4],
            of: impl Fn(f64) -> T,
            lanes: i64,
        ) {
            type Function<T> = unsafe extern "C" fn(*mut T, *mut T, i64, i64, i64, i64);
            for (at, address) in addresses.iter().enumerate() {
                for (rows, seed) in [(8, 0.3), (8, 1.7), (5, 0.9), (1, 0.2)] {
                    let value = |k: i64| of(1.0 + (k as f64 * seed).sin() / 3.0);
                    let values: Vec<T> = (0..rows * lanes).map(value).collect();
                    let mut found = Vec::new();
                    for level in levels() {
                        let (mut own, mut to) = (values.clone(), vec![of(0.0); rows as usize]);
                        // SAFETY: the address is that of such a function, over so many rows.
                        unsafe {
                            let function: Function<T> = std::mem::transmute(address(level));
                            function(to.as_mut_ptr(), own.as_mut_ptr(), rows, lanes, lanes, lanes);
                        }
                        found.push(to);
                    }
                    assert!(found.iter().all(|to| *to == found[0]), "{at} of {rows}: {found:?}");
                }
            }
        }
        let f8 = [
            fold_rows_add_f8::address,
            fold_rows_mul_f8::address,
            fold_rows_maximum_f8::address,
            fold_rows_minimum_f8::address,
        ];
        let f4 = [
            fold_rows_add_f4::address,
            fold_rows_mul_f4::address,
            fold_rows_maximum_f4::address,
            fold_rows_minimum_f4::address,
        ];
        check(f8, |value| value, 8);
        check(f4, |value| value as f32, 16);
    }

    #[test]
    fn a_nan_in_a_row_is_its_result() {
        for name in ["fold_rows_maximum_f8", "fold_rows_minimum_f8"] {
            for at in 0..64 {
                let mut values = [1.0; 64];
                values[at] = f64::NAN;
                let mut to = [0.0; 8];
                // SAFETY: the address is that of such a function, over eight rows of eight.
                unsafe {
                    let function: unsafe extern "C" fn(*mut f64, *mut f64, i64, i64, i64, i64) =
                        std::mem::transmute(kernel_function(name).unwrap());
                    function(to.as_mut_ptr(), values.as_mut_ptr(), 8, 8, 8, 8);
                }
                assert!((0..8).all(|row| to[row].is_nan() == (row == at / 8)), "{name} {at}");
            }
        }
    }

    #[test]
    fn a_nan_stays_the_largest_and_the_smallest() {
        for at in 0..32 {
            for name in ["fold_all_maximum_f8", "fold_all_minimum_f8"] {
                let mut values = [1.0; 32];
                values[at] = f64::NAN;
                let address = kernel_function(name).unwrap();
                // SAFETY: the address is that of such a function, over 32 partial results.
                let result = unsafe {
                    let function: unsafe extern "C" fn(*mut f64, i64, i64, i64) -> f64 =
                        std::mem::transmute(address);
                    function(values.as_mut_ptr(), 32, 8 * at as i64, 8)
                };
                assert!(result.is_nan());
            }
        }
    }

    #[test]
    fn unknown_names_have_no_address() {
        assert!(kernel_function("fold_all_sub_f8").is_none());
    }
}
