//! Numbers that are drawn together: orders, samples, counts of outcomes and shares.
//!
//! NumPy has these loops in Cython, around the functions for single numbers.

use std::collections::HashSet;
use std::ffi::c_int;
use std::mem::transmute;
use std::ptr;
use std::slice;

use frazil_core::DType;
use smallvec::SmallVec;

use crate::draws::distribution::Distribution;
use crate::draws::draw::{BinomialMemory, COST, DrawPlan, Drawing, read, refuse, visit};
use crate::draws::generator::BitStream;
use crate::error::Fault;
use crate::threads::attention::Patience;

/// The largest sum of colours that one method takes.
const MOST_COLORS: i64 = 1_000_000_000;

type BoundedFn = unsafe extern "C" fn(*mut BitStream, u64, u64, u64, bool) -> u64;

type MultinomialFn =
    unsafe extern "C" fn(*mut BitStream, i64, *mut i64, *const f64, isize, *mut BinomialMemory);

/// One method of samples of colours; it may have too little memory, which its status tells.
type CountFn =
    unsafe extern "C" fn(*mut BitStream, i64, usize, *const i64, i64, usize, *mut i64) -> c_int;

/// The other one.
type MarginalsFn =
    unsafe extern "C" fn(*mut BitStream, i64, usize, *const i64, i64, usize, *mut i64);

/// Calls `draw` for each row, whose numbers are zero, with the parameters of the row.
///
/// # Safety
/// There is room for the results, which are of this type; zero bytes are a value of it.
unsafe fn each_row<T>(
    plan: &DrawPlan,
    drawing: Drawing<'_>,
    mut draw: impl FnMut(&[*mut u8], &mut [T], &mut Patience) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let length = plan.row.0;
    let mut to = drawing.to.cast::<T>();
    let mut patience = Patience::new();
    visit(&plan.walk, drawing.parameters, |pointers| {
        // SAFETY: by the caller's promise; the memory of a result may hold anything before.
        let row = unsafe {
            ptr::write_bytes(to, 0, length);
            slice::from_raw_parts_mut(to, length)
        };
        to = to.wrapping_add(length);
        draw(pointers, row, &mut patience)?;
        patience.spend(COST).map_err(Fault::from)
    })
}

/// The elements of a row of a parameter.
///
/// # Safety
/// The pointer is that of the first element of a row of this type.
unsafe fn row_of<T: Copy>(plan: &DrawPlan, start: *mut u8) -> SmallVec<[T; 16]>
where
    [T; 16]: smallvec::Array<Item = T>,
{
    let (length, step) = plan.row;
    // SAFETY: by the caller's promise, the row has `length` elements at this step.
    (0..length)
        .map(|at| unsafe { read(start.wrapping_offset(at as isize * step as isize)) })
        .collect()
}

/// # Safety
/// As for [`DrawPlan::run`], for all that fill rows; the function is that of the distribution.
pub(super) unsafe fn permute(plan: &DrawPlan, drawing: Drawing<'_>) -> Result<(), Fault> {
    // SAFETY: NumPy declares the function so; the caller promises the rest.
    unsafe {
        let below: unsafe extern "C" fn(*mut BitStream, u64) -> u64 = transmute(drawing.function);
        each_row(plan, Drawing { parameters: &[], ..drawing }, |_, row: &mut [i64], patience| {
            for (at, place) in row.iter_mut().enumerate() {
                *place = at as i64;
            }
            for at in (1..row.len()).rev() {
                row.swap(at, below(drawing.stream, at as u64) as usize);
                patience.spend(COST)?;
            }
            Ok(())
        })
    }
}

/// Shuffles the places after `first`: each is exchanged with a place that is drawn from those before it.
///
/// # Safety
/// The function is NumPy's for bounded integers.
unsafe fn shuffle(
    below: BoundedFn,
    stream: *mut BitStream,
    places: &mut [i64],
    first: usize,
) -> Result<(), Fault> {
    let mut patience = Patience::new();
    for at in (first..places.len()).rev() {
        // SAFETY: by the caller's promise, it is NumPy's function for bounded integers.
        let other = unsafe { below(stream, 0, at as u64, 0, false) };
        places.swap(at, other as usize);
        patience.spend(COST)?;
    }
    Ok(())
}

/// # Safety
/// As for [`permute`].
pub(super) unsafe fn sample(plan: &DrawPlan, drawing: Drawing<'_>) -> Result<(), Fault> {
    if plan.count == 0 {
        return Ok(());
    }
    // SAFETY: NumPy declares the function so; the parameters were checked, and the results are
    // `count` numbers.
    unsafe {
        let below: BoundedFn = transmute(drawing.function);
        let (population, shuffled) =
            (read::<i64>(drawing.parameters[0]) as usize, read::<i64>(drawing.parameters[1]) != 0);
        let to = drawing.to.cast::<i64>();
        ptr::write_bytes(to, 0, plan.count);
        let taken = slice::from_raw_parts_mut(to, plan.count);
        let share = if shuffled { 50 } else { 20 };
        if population > 10_000 && taken.len() > population / share {
            let mut all: Vec<i64> = Vec::new();
            let bytes = population.saturating_mul(8);
            all.try_reserve_exact(population).map_err(|_| Fault::OutOfMemory { bytes })?;
            all.extend(0..population as i64);
            let kept = population - taken.len();
            shuffle(below, drawing.stream, &mut all, kept.max(1))?;
            taken.copy_from_slice(&all[kept..]);
            return Ok(());
        }
        let mut seen = HashSet::with_capacity(taken.len());
        let mut patience = Patience::new();
        let kept = population - taken.len();
        for (place, at) in taken.iter_mut().zip(kept..) {
            let drawn = below(drawing.stream, 0, at as u64, 0, false) as i64;
            *place = if seen.insert(drawn) { drawn } else { at as i64 };
            seen.insert(*place);
            patience.spend(COST)?;
        }
        if shuffled { shuffle(below, drawing.stream, taken, 1) } else { Ok(()) }
    }
}

/// # Safety
/// As for [`permute`].
pub(super) unsafe fn multinomial(plan: &DrawPlan, drawing: Drawing<'_>) -> Result<(), Fault> {
    // SAFETY: NumPy declares the function so; the caller promises the rest.
    unsafe {
        let f: MultinomialFn = transmute(drawing.function);
        let mut known = BinomialMemory::default();
        each_row(plan, drawing, |p, row: &mut [i64], patience| {
            let shares = row_of::<f64>(plan, p[1]);
            let length = row.len() as isize;
            f(
                drawing.stream,
                read(p[0]),
                row.as_mut_ptr(),
                shares.as_ptr(),
                length,
                &raw mut known,
            );
            Ok(patience.spend(COST * row.len() as i64)?)
        })
    }
}

/// # Safety
/// As for [`permute`].
pub(super) unsafe fn dirichlet(plan: &DrawPlan, drawing: Drawing<'_>) -> Result<(), Fault> {
    let beta =
        Distribution::find("beta", DType::Float64).expect("it is in the table").function()?;
    // SAFETY: NumPy declares the functions so; the caller promises the rest.
    unsafe {
        let gamma: unsafe extern "C" fn(*mut BitStream, f64) -> f64 = transmute(drawing.function);
        let beta: unsafe extern "C" fn(*mut BitStream, f64, f64) -> f64 = transmute(beta);
        each_row(plan, drawing, |p, row: &mut [f64], patience| {
            let alphas = row_of::<f64>(plan, p[0]);
            if !row.is_empty() && alphas.iter().all(|&alpha| alpha < 0.1) {
                break_stick(&alphas, row, |a, b| beta(drawing.stream, a, b));
            } else {
                let mut sum = 0.0;
                for (place, &alpha) in row.iter_mut().zip(&alphas) {
                    *place = gamma(drawing.stream, alpha);
                    sum += *place;
                }
                let share = 1.0 / sum;
                row.iter_mut().for_each(|place| *place *= share);
            }
            Ok(patience.spend(COST * row.len() as i64)?)
        })
    }
}

/// Shares for small parameters, whose gamma numbers would all be zero: a part of the remaining share, one
/// after the other.
fn break_stick(alphas: &[f64], row: &mut [f64], mut beta: impl FnMut(f64, f64) -> f64) {
    let mut sums: SmallVec<[f64; 16]> = alphas.into();
    for at in (0..sums.len() - 1).rev() {
        sums[at] += sums[at + 1];
    }
    let all = sums[0];
    if all.is_nan() || all <= 0.0 {
        return;
    }
    let (last, mut left) = (row.len() - 1, 1.0);
    for at in 0..last {
        let part = beta(alphas[at], sums[at + 1]);
        row[at] = left * part;
        left *= 1.0 - part;
        if sums[at + 1] == 0.0 {
            break;
        }
    }
    row[last] = left;
}

/// # Safety
/// As for [`permute`].
pub(super) unsafe fn colors(plan: &DrawPlan, drawing: Drawing<'_>) -> Result<(), Fault> {
    let length = plan.row.0;
    if plan.count == 0 {
        return Ok(());
    }
    // SAFETY: NumPy declares the functions so; the caller promises the rest.
    unsafe {
        let draw = |p: &[*mut u8], rows: usize, to: *mut i64| {
            let (colors, sample) = (row_of::<i64>(plan, p[0]), read(p[1]));
            let total: i64 = colors.iter().sum();
            let at = colors.as_ptr();
            if !counts(plan) {
                let f: MarginalsFn = transmute(drawing.function);
                f(drawing.stream, total, length, at, sample, rows, to);
                return Ok(());
            }
            let f: CountFn = transmute(drawing.function);
            match f(drawing.stream, total, length, at, sample, rows, to) {
                0 => Ok(()),
                _ => Err(Fault::OutOfMemory { bytes: (total as usize).saturating_mul(8) }),
            }
        };
        if plan.together.is_single() {
            // NumPy draws all at once then, and one method goes on from the state after the row before.
            let to = drawing.to.cast::<i64>();
            ptr::write_bytes(to, 0, plan.count);
            return draw(drawing.parameters, plan.count / length, to);
        }
        each_row(plan, drawing, |p, row: &mut [i64], patience| {
            draw(p, 1, row.as_mut_ptr())?;
            Ok(patience.spend(COST * length as i64)?)
        })
    }
}

fn counts(plan: &DrawPlan) -> bool {
    plan.distribution.name().ends_with("count")
}

/// # Safety
/// These are the parameters of the distribution, as for all checks.
pub(super) unsafe fn check_colors(plan: &DrawPlan, p: &[*mut u8]) -> Result<(), Fault> {
    // SAFETY: by the caller's promise, these are the colours and the size of the sample.
    let (colors, sample): (SmallVec<[i64; 16]>, i64) = unsafe { (row_of(plan, p[0]), read(p[1])) };
    let total = colors.iter().try_fold(0i64, |sum, &color| sum.checked_add(color));
    let most = if counts(plan) { i64::MAX / 8 } else { MOST_COLORS - 1 };
    match total {
        Some(total) if total > most => {
            refuse(format!("sum(colors) must be at most {most}, given {total}"))
        }
        Some(total) if sample > total => {
            refuse(format!("nsample > sum(colors), given nsample {sample} and the sum {total}"))
        }
        Some(_) => Ok(()),
        None => refuse("sum(colors) is no 64-bit integer".to_owned()),
    }
}

/// # Safety
/// As for [`check_colors`].
pub(super) unsafe fn check_multinomial(plan: &DrawPlan, p: &[*mut u8]) -> Result<(), Fault> {
    // SAFETY: by the caller's promise, the second parameter is a row of shares.
    let shares = unsafe { row_of::<f64>(plan, p[1]) };
    let Some((_, others)) = shares.split_last() else {
        return refuse("pvals must have a last dimension that is not empty".to_owned());
    };
    let sum = careful_sum(others);
    if sum > 1.0 + 1e-12 {
        return refuse(format!("sum(pvals[:-1]) > 1.0, given {sum}"));
    }
    Ok(())
}

/// # Safety
/// As for [`check_colors`].
pub(super) unsafe fn check_sample(plan: &DrawPlan, p: &[*mut u8]) -> Result<(), Fault> {
    // SAFETY: by the caller's promise, the first parameter is the population.
    let population: i64 = unsafe { read(p[0]) };
    if plan.count == 0 {
        return Ok(());
    }
    if population <= 0 {
        return refuse(format!("a must be positive where samples are taken, given {population}"));
    }
    if plan.count as i64 > population {
        return refuse(format!(
            "cannot take a larger sample than population when replace is False, given {} of \
             {population}",
            plan.count
        ));
    }
    Ok(())
}

/// A sum that carries its rounding error.
fn careful_sum(of: &[f64]) -> f64 {
    let Some((&first, rest)) = of.split_first() else { return 0.0 };
    let (mut sum, mut lost) = (first, 0.0);
    for &x in rest {
        let y = x - lost;
        let next = sum + y;
        lost = (next - sum) - y;
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sticks_are_broken_until_nothing_is_left() {
        let mut row = [0.0; 4];
        break_stick(
            &[0.01, 0.02, 0.0, 0.0],
            &mut row,
            |a, b| {
                if b > 0.0 { 0.25 } else { a * 0.0 + 0.5 }
            },
        );
        assert_eq!(row, [0.25, 0.375, 0.0, 0.375]);
        let mut row = [0.0; 2];
        break_stick(&[0.0, 0.0], &mut row, |_, _| unreachable!("there is nothing to share"));
        assert_eq!(row, [0.0; 2]);
    }

    #[test]
    fn a_sum_keeps_what_rounding_takes() {
        assert_eq!(careful_sum(&[]), 0.0);
        assert_eq!(careful_sum(&[0.1; 10]), 1.0);
    }
}
