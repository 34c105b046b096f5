//! Functions of floating numbers that native kernels call: of one element, or of many. The result
//! for an element depends neither on its place nor on the instruction set.
//!
//! Names: `exp_many_f8` is `exp` of many float64, `exp_one_f4` of one float32, and `exp_block_f8` of
//! a register, if the processor has AVX-512. The functions here compute a float32 as float64, and round
//! once; most functions are in `typed.rs`.

use crate::loops::{power, real, steps, typed};
use crate::processor::{Level, by_level};
use std::mem::MaybeUninit;

/// The elements that are copied together.
const BLOCK: usize = 256;

/// An element in memory.
trait Stored: Copy {
    fn wide(self) -> f64;
    fn narrow(value: f64) -> Self;
}

impl Stored for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn narrow(value: f64) -> f64 {
        value
    }
}

impl Stored for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn narrow(value: f64) -> f32 {
        value as f32
    }
}

/// Elements that are written before they are read.
type Block = MaybeUninit<[f64; BLOCK]>;

/// A function of one number. No closure: those are compiled for no instruction set.
trait Unary {
    fn of(x: f64) -> f64;
}

/// A function of two numbers.
trait Binary {
    /// The function of common numbers, and whether these are; else [`Binary::rare`] has it.
    fn of(x: f64, y: f64) -> (f64, bool);

    fn rare(x: f64, y: f64) -> f64;

    #[inline(always)]
    fn any(x: f64, y: f64) -> f64 {
        let (made, is_common) = Self::of(x, y);
        if is_common { made } else { Self::rare(x, y) }
    }
}

/// Powers, whose loops over common numbers go by registers.
struct Power;

impl Binary for Power {
    #[inline(always)]
    fn of(x: f64, y: f64) -> (f64, bool) {
        power::common(x, y)
    }

    fn rare(x: f64, y: f64) -> f64 {
        real::pow(x, y)
    }
}

/// # Safety
/// There are `count` elements at each pointer; `to` lies where `x` does, or apart from it.
#[inline(always)]
unsafe fn many_of_one<F: Unary, T: Stored>(to: *mut T, x: *const T, count: i64) {
    let (mut own, mut made) = (Block::uninit(), Block::uninit());
    let (given, result) = (own.as_mut_ptr().cast::<f64>(), made.as_mut_ptr().cast::<f64>());
    let mut at = 0;
    while at < count as usize {
        let here = if count as usize - at < BLOCK { count as usize - at } else { BLOCK };
        // SAFETY: by the caller's promise, there are `count` elements at each pointer, and these
        // are some of them.
        unsafe {
            for k in 0..here {
                *given.add(k) = x.add(at + k).read_unaligned().wide();
            }
            for k in 0..here {
                *result.add(k) = F::of(*given.add(k));
            }
            for k in 0..here {
                to.add(at + k).write_unaligned(T::narrow(*result.add(k)));
            }
        }
        at += here;
    }
}

/// # Safety
/// As for [`many_of_one`].
#[inline(always)]
unsafe fn many_of_two<F: Binary, T: Stored>(to: *mut T, x: *const T, y: *const T, count: i64) {
    let (mut own, mut other, mut made) = (Block::uninit(), Block::uninit(), Block::uninit());
    let (first, second) = (own.as_mut_ptr().cast::<f64>(), other.as_mut_ptr().cast::<f64>());
    let result = made.as_mut_ptr().cast::<f64>();
    let mut at = 0;
    while at < count as usize {
        let here = if count as usize - at < BLOCK { count as usize - at } else { BLOCK };
        // SAFETY: by the caller's promise, there are `count` elements at each pointer, and these
        // are some of them.
        unsafe {
            for k in 0..here {
                *first.add(k) = x.add(at + k).read_unaligned().wide();
                *second.add(k) = y.add(at + k).read_unaligned().wide();
            }
            let mut common = [true; BLOCK];
            let mut all = true;
            for (k, own) in common.iter_mut().enumerate().take(here) {
                let (made, is_common) = F::of(*first.add(k), *second.add(k));
                *result.add(k) = made;
                *own = is_common;
                all &= is_common;
            }
            if !all {
                for (k, _) in common.iter().enumerate().take(here).filter(|(_, own)| !**own) {
                    *result.add(k) = F::rare(*first.add(k), *second.add(k));
                }
            }
            for k in 0..here {
                to.add(at + k).write_unaligned(T::narrow(*result.add(k)));
            }
        }
        at += here;
    }
}

/// The address of a function of one element, or of many, in the form that kernels of C or Numba call.
macro_rules! by_form {
    ($form:ident, $function:ident: $one:ident $many:ident) => {
        match $form {
            "one_f4" => Some($one::<$function, f32> as *const () as usize),
            "one_f8" => Some($one::<$function, f64> as *const () as usize),
            "many_f4" => Some($many::<$function, f32> as *const () as usize),
            "many_f8" => Some($many::<$function, f64> as *const () as usize),
            _ => None,
        }
    };
}

/// The functions made of the instructions of a level.
macro_rules! in_level {
    ($level:ident, $($features:literal)?) => {
        mod $level {
            use super::{Binary, Stored, Unary, many_of_one, many_of_two};

            $(#[target_feature(enable = $features)])?
            unsafe extern "C" fn one<F: Unary, T: Stored>(x: T) -> T {
                T::narrow(F::of(x.wide()))
            }

            $(#[target_feature(enable = $features)])?
            unsafe extern "C" fn one_of_two<F: Binary, T: Stored>(x: T, y: T) -> T {
                T::narrow(F::any(x.wide(), y.wide()))
            }

            $(#[target_feature(enable = $features)])?
            unsafe extern "C" fn many<F: Unary, T: Stored>(to: *mut T, x: *const T, count: i64) {
                // SAFETY: by the promise of the kernel that calls.
                unsafe { many_of_one::<F, T>(to, x, count) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe extern "C" fn many_pairs<F: Binary, T: Stored>(
                to: *mut T,
                x: *const T,
                y: *const T,
                count: i64,
            ) {
                // SAFETY: by the promise of the kernel that calls.
                unsafe { many_of_two::<F, T>(to, x, y, count) }
            }

            pub(super) fn unary<F: Unary>(form: &str) -> Option<usize> {
                by_form!(form, F: one many)
            }

            pub(super) fn binary<F: Binary>(form: &str) -> Option<usize> {
                by_form!(form, F: one_of_two many_pairs)
            }
        }
    };
}

in_level!(plain,);
#[cfg(target_arch = "x86_64")]
in_level!(avx2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
in_level!(avx512, "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl");

/// Functions of two registers of elements, which C's kernels call.
#[cfg(target_arch = "x86_64")]
#[expect(improper_ctypes_definitions, reason = "a register is what C's vector types are passed in")]
mod blocks {
    use super::{Binary, Stored};
    use std::arch::x86_64::{__m512, __m512d};

    #[inline(always)]
    fn each<F: Binary, T: Stored + Default, const N: usize>(x: [T; N], y: [T; N]) -> [T; N] {
        let mut made = [T::default(); N];
        let mut common = [true; N];
        for k in 0..N {
            let (own, is_common) = F::of(x[k].wide(), y[k].wide());
            made[k] = T::narrow(own);
            common[k] = is_common;
        }
        if common != [true; N] {
            for k in 0..N {
                if !common[k] {
                    made[k] = T::narrow(F::rare(x[k].wide(), y[k].wide()));
                }
            }
        }
        made
    }

    macro_rules! block {
        ($name:ident, $element:ident, $lanes:literal, $register:ident) => {
            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
            unsafe extern "C" fn $name<F: Binary>(x: $register, y: $register) -> $register {
                // SAFETY: a register is as large as its elements, and any bits are some.
                unsafe {
                    let x = std::mem::transmute::<$register, [$element; $lanes]>(x);
                    let y = std::mem::transmute::<$register, [$element; $lanes]>(y);
                    let made = each::<F, $element, $lanes>(x, y);
                    std::mem::transmute::<[$element; $lanes], $register>(made)
                }
            }
        };
    }

    block!(block_f4, f32, 16, __m512);
    block!(block_f8, f64, 8, __m512d);

    pub(super) fn address<F: Binary>(form: &str) -> Option<usize> {
        Some(match form {
            "block_f4" => block_f4::<F> as *const () as usize,
            "block_f8" => block_f8::<F> as *const () as usize,
            _ => return None,
        })
    }
}

fn unary<F: Unary>(form: &str, level: Option<Level>) -> Option<usize> {
    by_level!(level, plain: plain::unary::<F>(form), avx2: avx2::unary::<F>(form),
        avx512: avx512::unary::<F>(form))
}

fn binary<F: Binary>(form: &str, level: Option<Level>) -> Option<usize> {
    by_level!(
        level,
        plain: plain::binary::<F>(form),
        avx2: avx2::binary::<F>(form),
        avx512: avx512::binary::<F>(form).or_else(|| blocks::address::<F>(form)),
    )
}

macro_rules! element_functions {
    (unary: $($one:ident)* ; binary: $($two:ident)*) => {
        $(#[expect(non_camel_case_types, reason = "it is named as the function that it is")]
        struct $one;

        impl Unary for $one {
            #[inline(always)]
            fn of(x: f64) -> f64 {
                real::$one(x)
            }
        })*
        $(#[expect(non_camel_case_types, reason = "it is named as the function that it is")]
        struct $two;

        impl Binary for $two {
            #[inline(always)]
            fn of(x: f64, y: f64) -> (f64, bool) {
                (real::$two(x, y), true)
            }

            fn rare(x: f64, y: f64) -> f64 {
                real::$two(x, y)
            }
        })*

        fn find(name: &str, form: &str, level: Option<Level>) -> Option<usize> {
            match name {
                $(stringify!($one) => unary::<$one>(form, level),)*
                $(stringify!($two) => binary::<$two>(form, level),)*
                "pow" => binary::<Power>(form, level),
                _ => None,
            }
        }

        #[cfg(test)]
        const OF_ONE: &[(&str, fn(f64) -> f64)] = &[$((stringify!($one), real::$one),)*];
    };
}

element_functions! {
    unary: tri_gamma;
    binary: arctan2 logaddexp fmod polygamma hypot zeta
}

/// The address of the function of that name, for this machine; `None` if there is none.
pub(super) fn element_function(name: &str) -> Option<usize> {
    if let Some((name, of)) = name.rsplit_once("_step_") {
        let alone = || element_function(&format!("{name}_one_{of}"));
        return steps::find(name, of).or_else(alone);
    }
    let forms = ["_one_", "_many_", "_block_"];
    let at = forms.into_iter().find_map(|form| name.rfind(form))?;
    let (name, form, level) = (&name[..at], &name[at + 1..], Level::best());
    typed::find(name, form, level).or_else(|| find(name, form, level))
}

macro_rules! next_float {
    ($($name:ident: $t:ty;)*) => { $(
        /// The float beside `x` on the way to `y`.
        pub(super) extern "C" fn $name(x: $t, y: $t) -> $t {
            if x.is_nan() || y.is_nan() {
                return x + y;
            }
            if x == y {
                return y;
            }
            let next = if y > x { x.next_up() } else { x.next_down() };
            // Beside a zero is the smallest number of that sign.
            if next == 0.0 { next.copysign(x) } else { next }
        }
    )* };
}
next_float! {
    next_float32: f32;
    next_float64: f64;
}

/// `base ** exponent`, wrapping around.
pub(super) extern "C" fn power_of_integers(mut base: u64, mut exponent: u64) -> u64 {
    let mut power = 1_u64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(base);
        }
        exponent >>= 1;
        base = base.wrapping_mul(base);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_has_the_same_bits_everywhere() {
        let values: Vec<f64> = (0..43).map(|k| (f64::from(k) - 20.5) * 0.37).collect();
        for &(name, of) in OF_ONE {
            let expected: Vec<u64> = values.iter().map(|&x| of(x).to_bits()).collect();
            for level in Level::known().map(Some).chain([None]) {
                let (one, many) =
                    (find(name, "one_f8", level).unwrap(), find(name, "many_f8", level).unwrap());
                for (start, end) in [(0, 43), (3, 4), (5, 13), (1, 20)] {
                    let mut made = vec![0.0; end - start];
                    // SAFETY: the address is that of such a function, and both are as long.
                    unsafe {
                        let function: unsafe extern "C" fn(*mut f64, *const f64, i64) =
                            std::mem::transmute(many);
                        let from = values[start..end].as_ptr();
                        function(made.as_mut_ptr(), from, (end - start) as i64);
                    }
                    for (x, bits) in made.iter().zip(&expected[start..end]) {
                        let same =
                            x.to_bits() == *bits || x.is_nan() && f64::from_bits(*bits).is_nan();
                        assert!(same, "{name} {level:?} {x}");
                    }
                }
                for (&x, bits) in values.iter().zip(&expected) {
                    // SAFETY: the address is that of such a function.
                    let made = unsafe {
                        let function: unsafe extern "C" fn(f64) -> f64 = std::mem::transmute(one);
                        function(x)
                    };
                    let same =
                        made.to_bits() == *bits || made.is_nan() && f64::from_bits(*bits).is_nan();
                    assert!(same, "{name} {level:?} of {x}");
                }
            }
        }
    }

    #[test]
    fn powers_have_the_same_bits_in_every_level() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 29
        };
        let edges = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 2.0, 1e-310, 1e308, f64::NAN];
        let edges = edges.into_iter().chain([f64::INFINITY, f64::NEG_INFINITY, 1023.5, -1074.0]);
        let edges: Vec<f64> = edges.collect();
        let mut pairs: Vec<(f64, f64)> =
            edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
        for _ in 0..4_000 {
            let uniform = |bits: u64| (bits >> 11) as f64 / (1_u64 << 53) as f64;
            pairs.push((f64::from_bits(next()), uniform(next()) * 8.0 - 4.0));
            pairs.push((uniform(next()) * 8.0 - 6.0, (uniform(next()) * 60.0).round() - 30.0));
            pairs.push((0.5 + uniform(next()), uniform(next()) * 1400.0 - 700.0));
            pairs.push((1.0 + uniform(next()) * 1e-3, uniform(next()) * 1e6 - 5e5));
        }
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        type Many = unsafe extern "C" fn(*mut f64, *const f64, *const f64, i64);
        for level in Level::known().map(Some).chain([None]) {
            let mut made = vec![0.0; x.len()];
            // SAFETY: the addresses are addresses of such functions, and all are as long.
            let alone = unsafe {
                let many: Many = std::mem::transmute(find("pow", "many_f8", level).unwrap());
                many(made.as_mut_ptr(), x.as_ptr(), y.as_ptr(), x.len() as i64);
                let one = find("pow", "one_f8", level).unwrap();
                std::mem::transmute::<usize, unsafe extern "C" fn(f64, f64) -> f64>(one)
            };
            for ((&x, &y), &made) in x.iter().zip(&y).zip(&made) {
                // SAFETY: as above.
                let own = unsafe { alone(x, y) };
                let (expected, right) = (Power::any(x, y), x.powf(y));
                let same =
                    |a: f64| a.to_bits() == expected.to_bits() || a.is_nan() && right.is_nan();
                assert!(same(made) && same(own), "{level:?} {x:e} ** {y:e}: {made:e} {own:e}");
                let near = (made - right).abs() <= 2.0 * f64::EPSILON * right.abs();
                assert!(
                    made == right || near || made.is_nan() && right.is_nan(),
                    "{x:e} ** {y:e}: {made:e} {right:e}"
                );
            }
        }
    }

    #[test]
    fn names_that_are_none_have_no_address() {
        for name in ["exp", "exp_many", "exp_many_f2", "cube_one_f8", "_one_f8"] {
            assert_eq!(element_function(name), None, "{name}");
        }
        assert!(element_function("log1p_many_f4").is_some());
        assert!(element_function("pow_one_f8").is_some());
    }

    #[test]
    fn powers_of_integers_wrap_around() {
        assert_eq!(power_of_integers(3, 0), 1);
        assert_eq!(power_of_integers(3, 5), 243);
        assert_eq!(power_of_integers(u64::MAX, 3), u64::MAX);
    }
}
