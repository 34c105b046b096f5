//! Operations on the elements of one row: copying, repeating, adding.

use frazil_core::{DType, from_half, to_half};

#[cfg(target_arch = "x86_64")]
use crate::processor::Level;

/// From this number of bytes on, a call is quicker than copying part by part.
const FEW: usize = 128;

/// Copies `count` elements of `itemsize` bytes, aligned to as many.
///
/// # Safety
/// Both rows are valid for `count` elements at their steps, aligned, and do not overlap.
pub(crate) unsafe fn copy_row(
    itemsize: usize,
    destination: *mut u8,
    to: i64,
    source: *const u8,
    from: i64,
    count: i64,
) {
    let item = itemsize as i64;
    // SAFETY: by the caller's promise, both rows are valid for `count` elements at their steps and do not overlap.
    unsafe {
        if to == item && from == item {
            source.copy_to_nonoverlapping(destination, count as usize * itemsize);
            return;
        }
        match itemsize {
            1 => copy_each::<u8>(destination, to, source, from, count),
            2 => copy_each::<u16>(destination, to, source, from, count),
            4 => copy_each::<u32>(destination, to, source, from, count),
            _ => copy_each::<u64>(destination, to, source, from, count),
        }
    }
}

/// Copies so many bytes. A call of the system's function costs more than to copy a few.
///
/// # Safety
/// Both are valid for so many bytes, and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_few(destination: *mut u8, source: *const u8, bytes: usize) {
    /// # Safety
    /// As above, where a part of this type is left if `bytes` has its bit.
    #[inline(always)]
    unsafe fn part<T>(destination: *mut u8, source: *const u8, bytes: usize, done: &mut usize) {
        if bytes & size_of::<T>() != 0 {
            // SAFETY: by the caller's promise, a part of this type is left at `done`.
            unsafe {
                let value = source.add(*done).cast::<T>().read_unaligned();
                destination.add(*done).cast::<T>().write_unaligned(value);
            }
            *done += size_of::<T>();
        }
    }
    // SAFETY: by the caller's promise; the parts are as long as all of it.
    unsafe {
        if bytes >= FEW {
            source.copy_to_nonoverlapping(destination, bytes);
            return;
        }
        let mut done = 0;
        part::<[u64; 8]>(destination, source, bytes, &mut done);
        part::<[u64; 4]>(destination, source, bytes, &mut done);
        part::<[u64; 2]>(destination, source, bytes, &mut done);
        part::<u64>(destination, source, bytes, &mut done);
        part::<u32>(destination, source, bytes, &mut done);
        part::<u16>(destination, source, bytes, &mut done);
        part::<u8>(destination, source, bytes, &mut done);
    }
}

/// Adds `count` elements to the elements of the destination; integers wrap, booleans are joined by "or".
///
/// # Safety
/// As for [`copy_row`]; the elements are of `dtype`.
pub(crate) unsafe fn add_row(
    dtype: DType,
    destination: *mut u8,
    to: i64,
    source: *const u8,
    from: i64,
    count: i64,
) {
    // SAFETY: by the caller's promise. Two's complement adds signed and unsigned alike.
    unsafe {
        match dtype {
            DType::Bool => add_each::<u8>(destination, to, source, from, count, |a, b| a | b),
            DType::Int8 | DType::UInt8 => {
                add_each::<u8>(destination, to, source, from, count, u8::wrapping_add)
            }
            DType::Int16 | DType::UInt16 => {
                add_each::<u16>(destination, to, source, from, count, u16::wrapping_add)
            }
            DType::Int32 | DType::UInt32 => {
                add_each::<u32>(destination, to, source, from, count, u32::wrapping_add)
            }
            DType::Int64 | DType::UInt64 => {
                add_each::<u64>(destination, to, source, from, count, u64::wrapping_add)
            }
            DType::Float16 => add_each::<u16>(destination, to, source, from, count, |a, b| {
                to_half((from_half(a) + from_half(b)).into())
            }),
            DType::Float32 => add_each::<f32>(destination, to, source, from, count, |a, b| a + b),
            DType::Float64 => add_each::<f64>(destination, to, source, from, count, |a, b| a + b),
            DType::Complex64 | DType::Complex128 => unreachable!("the builder refuses these"),
        }
    }
}

/// # Safety
/// As for [`copy_row`]; the elements are of type `T`.
pub(crate) unsafe fn copy_each<T>(
    destination: *mut u8,
    to: i64,
    source: *const u8,
    from: i64,
    count: i64,
) {
    if to == size_of::<T>() as i64 {
        let (place, mut element) = (destination.cast::<T>(), source);
        for at in 0..count as usize {
            // SAFETY: by the caller's promise, both rows have `count` elements of this type.
            unsafe { place.add(at).write(element.cast::<T>().read()) };
            element = element.wrapping_offset(from as isize);
        }
        return;
    }
    for at in 0..count {
        let place = destination.wrapping_offset((at * to) as isize).cast::<T>();
        let element = source.wrapping_offset((at * from) as isize).cast::<T>();
        // SAFETY: by the caller's promise, both rows have `count` elements of this type.
        unsafe { place.write(element.read()) };
    }
}

/// Copies so many elements, each so often.
///
/// # Safety
/// All of them lie inside both arrays and are of type `T`.
pub(crate) unsafe fn repeat_each<T: Copy>(
    destination: *mut u8,
    to: [i64; 2],
    source: *const u8,
    from: i64,
    [count, times]: [i64; 2],
) {
    let [far, near] = to;
    // SAFETY: by the caller's promise, the source has the element.
    let element =
        |at: i64| unsafe { source.wrapping_offset((at * from) as isize).cast::<T>().read() };
    let place = |at: i64, k: i64| destination.wrapping_offset((at * far + k * near) as isize);
    for at in 0..count {
        let element = element(at);
        for k in 0..times {
            // SAFETY: by the caller's promise, the destination has the place.
            unsafe { place(at, k).cast::<T>().write(element) };
        }
    }
}

/// # Safety
/// As for [`copy_row`]; the elements are of type `T`; the elements of the destination are initialised.
unsafe fn add_each<T: Copy>(
    destination: *mut u8,
    to: i64,
    source: *const u8,
    from: i64,
    count: i64,
    add: impl Fn(T, T) -> T,
) {
    let item = size_of::<T>() as i64;
    if to == item && from == item {
        let (places, elements) = (destination.cast::<T>(), source.cast::<T>());
        #[cfg(target_arch = "x86_64")]
        if Level::best().is_some() {
            // SAFETY: by the caller's promise; the processor has the instructions.
            // Test: `rows_without_gaps_are_added`.
            return unsafe { add_dense_avx2(places, elements, count as usize, add) };
        }
        // SAFETY: by the caller's promise, both rows lie densely, with `count` elements of this type.
        return unsafe { add_dense(places, elements, count as usize, add) };
    }
    for at in 0..count {
        let place = destination.wrapping_offset((at * to) as isize).cast::<T>();
        let element = source.wrapping_offset((at * from) as isize).cast::<T>();
        // SAFETY: by the caller's promise, both rows have `count` elements of this type, and those
        // of the destination are initialised.
        unsafe { place.write(add(place.read(), element.read())) };
    }
}

/// As [`add_each`], of rows without gaps: the compiler adds these in vectors.
///
/// # Safety
/// As for [`add_each`].
#[inline(always)]
unsafe fn add_dense<T: Copy>(
    places: *mut T,
    elements: *const T,
    count: usize,
    add: impl Fn(T, T) -> T,
) {
    for at in 0..count {
        // SAFETY: by the caller's promise, both rows have `count` elements.
        unsafe { places.add(at).write(add(places.add(at).read(), elements.add(at).read())) };
    }
}

/// As [`add_dense`].
///
/// # Safety
/// As for [`add_each`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn add_dense_avx2<T: Copy>(
    places: *mut T,
    elements: *const T,
    count: usize,
    add: impl Fn(T, T) -> T,
) {
    // SAFETY: by the caller's promise, both rows have `count` elements, and the processor has AVX2.
    unsafe { add_dense(places, elements, count, add) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_and_many_are_copied() {
        let from: Vec<u8> = (0..300).map(|k| (k % 251) as u8).collect();
        for bytes in (0..140).chain([255, 299]) {
            let mut to = vec![255; 300];
            // SAFETY: both have so many bytes behind the first.
            unsafe { copy_few(to[1..].as_mut_ptr(), from[1..].as_ptr(), bytes) };
            assert_eq!(to[0], 255);
            assert_eq!(to[1..=bytes], from[1..=bytes]);
            assert!(to[1 + bytes..].iter().all(|&byte| byte == 255));
        }
    }

    #[test]
    fn rows_without_gaps_are_added() {
        for count in [0, 1, 3, 4, 15, 64, 199] {
            let of = |k: usize| (k as f64 * 0.7).sin();
            let elements: Vec<f64> = (0..count).map(of).collect();
            let mut places: Vec<f64> = (0..count).map(|k| of(k + 1000)).collect();
            let mut bytes: Vec<u8> = (0..count).map(|k| k as u8).collect();
            let (to, from) = (places.as_mut_ptr().cast(), elements.as_ptr().cast());
            let n = count as i64;
            let more = vec![250u8; count];
            // SAFETY: so many elements, one after the other; here and below.
            unsafe { add_row(DType::Float64, to, 8, from, 8, n) };
            // SAFETY: as above.
            unsafe { add_row(DType::UInt8, bytes.as_mut_ptr(), 1, more.as_ptr(), 1, n) };
            for k in 0..count {
                assert_eq!(places[k].to_bits(), (of(k + 1000) + of(k)).to_bits());
                assert_eq!(bytes[k], (k as u8).wrapping_add(250));
            }
        }
    }
}
