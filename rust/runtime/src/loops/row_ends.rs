//! Copies of the ends of rows, as long as a block: missing elements repeat the last one.

/// Copies the `count` elements that are left of each of some rows, `stride` bytes apart, and repeats
/// the last of them to fill a block. Rows without a distance have been copied with those `before`.
///
/// # Safety
/// Each row has `count` elements, at least one and less than `lanes`, at `from`, and `to` has room
/// for `lanes` of each, apart from it.
#[inline(always)]
pub(super) unsafe fn pad_ends<T: Copy>(
    to: *mut T,
    from: *const u8,
    stride: i64,
    before: i64,
    rows: i64,
    count: i64,
    lanes: i64,
) {
    if before > 0 && stride == 0 {
        return;
    }
    for row in 0..rows {
        let from = from.wrapping_offset((row * stride) as isize).cast::<T>();
        let to = to.wrapping_offset((row * lanes) as isize);
        // SAFETY: by the caller's promise; `to` is on the kernel's stack, aligned. Known lengths
        // let both loops be written out.
        unsafe {
            match lanes {
                8 => pad::<T>(to, from, count, 8),
                16 => pad::<T>(to, from, count, 16),
                _ => pad_long::<T>(to, from, count as usize, lanes as usize),
            }
        }
    }
}

/// # Safety
/// As for [`pad_ends`], of one row.
#[inline(always)]
unsafe fn pad<T: Copy>(to: *mut T, from: *const T, count: i64, lanes: i64) {
    // SAFETY: by the caller's promise, `count` elements are readable and `lanes` writable.
    unsafe {
        let last = from.wrapping_offset(count as isize - 1).read_unaligned();
        for k in 0..lanes as isize {
            let here =
                if k < count as isize { from.wrapping_offset(k).read_unaligned() } else { last };
            to.wrapping_offset(k).write(here);
        }
    }
}

/// As [`pad`], where a row is too long to ask for each lane whether it is behind the end.
///
/// # Safety
/// As for [`pad_ends`], of one row.
#[inline(always)]
unsafe fn pad_long<T: Copy>(to: *mut T, from: *const T, count: usize, lanes: usize) {
    // SAFETY: by the caller's promise, `count` elements are readable and `lanes` writable.
    unsafe {
        let last = from.wrapping_add(count - 1).read_unaligned();
        to.cast::<u8>().copy_from_nonoverlapping(from.cast::<u8>(), count * size_of::<T>());
        for k in count..lanes {
            to.wrapping_add(k).write(last);
        }
    }
}

/// Copies `count` elements of each of some blocks to where rows end, `stride` bytes apart; rows
/// without a distance are one.
///
/// # Safety
/// As for [`pad_ends`], the other way round.
#[inline(always)]
pub(super) unsafe fn copy_ends<T: Copy>(
    to: *mut u8,
    from: *const T,
    stride: i64,
    rows: i64,
    count: i64,
    lanes: i64,
) {
    let rows = if stride == 0 { rows.min(1) } else { rows };
    for row in 0..rows {
        let to = to.wrapping_offset((row * stride) as isize).cast::<T>();
        let from = from.wrapping_offset((row * lanes) as isize);
        // SAFETY: as for `pad_ends`.
        unsafe {
            match lanes {
                8 => copy::<T>(to, from, count, 8),
                16 => copy::<T>(to, from, count, 16),
                _ => {
                    let bytes = count as usize * size_of::<T>();
                    to.cast::<u8>().copy_from_nonoverlapping(from.cast::<u8>(), bytes);
                }
            }
        }
    }
}

/// # Safety
/// As for [`copy_ends`], of one row.
#[inline(always)]
unsafe fn copy<T: Copy>(to: *mut T, from: *const T, count: i64, lanes: i64) {
    for k in 0..lanes as isize {
        if k < count as isize {
            // SAFETY: by the caller's promise, `count` elements are writable and `lanes` readable.
            unsafe { to.wrapping_offset(k).write_unaligned(from.wrapping_offset(k).read()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_rows_are_padded_with_their_last_elements_and_copied_back() {
        for (lanes, rows, count) in [(8, 3, 5), (16, 8, 1), (16, 1, 15), (32, 4, 31), (8, 2, 7)] {
            let (width, used) = (lanes as usize, count as usize);
            // Rows of 40 elements; their ends begin at 2.
            let from: Vec<u32> = (0..40 * rows as u32).collect();
            let mut ends = vec![0; width * rows as usize];
            let mut back = vec![u32::MAX; from.len()];
            // SAFETY: all are as long as is said.
            unsafe {
                pad_ends(ends.as_mut_ptr(), from[2..].as_ptr().cast(), 160, 3, rows, count, lanes);
                let to = back[2..].as_mut_ptr().cast();
                copy_ends(to, ends.as_ptr(), 160, rows, count, lanes);
            }
            for (row, end) in ends.chunks(width).enumerate() {
                let own = &from[40 * row + 2..][..used];
                for (k, &element) in end.iter().enumerate() {
                    assert_eq!(element, own[k.min(used - 1)]);
                }
            }
            for (at, &element) in back.iter().enumerate() {
                let copied = (2..2 + used).contains(&(at % 40));
                assert_eq!(element, if copied { from[at] } else { u32::MAX });
            }
        }
    }

    #[test]
    fn rows_at_one_place_are_copied_once() {
        let from = [1u64, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9];
        let mut to = [0u64; 3];
        // SAFETY: two blocks of eight; three elements of room.
        unsafe { copy_ends(to.as_mut_ptr().cast(), from.as_ptr(), 0, 2, 3, 8) };
        assert_eq!(to, [1, 2, 3]);
    }
}
