//! Elements of constants as text.

use std::fmt::Write;

use super::constant::ConstantData;
use super::dtype::{DType, Kind};
use super::half::{from_half, to_half};

/// The value of a constant without dimensions, or its type.
pub(crate) fn short(data: &ConstantData) -> String {
    let mut out = String::new();
    if data.ty().ndim() == 0 && data.ty().is_complex() {
        let part = data.ty().dtype().part();
        let (re, im) = data.bytes().split_at(part.itemsize());
        out.push('(');
        element(&mut out, part, re);
        if im[part.itemsize() - 1] < 0x80 {
            out.push('+');
        }
        element(&mut out, part, im);
        out.push_str("j)");
    } else if data.ty().ndim() == 0 {
        elements(&mut out, data);
    } else {
        let _ = write!(out, "<{}>", data.ty());
    }
    out
}

/// The elements of a constant, as a text that gives the same bits when it is read.
pub(crate) fn elements(out: &mut String, data: &ConstantData) {
    let dtype = data.ty().dtype();
    let bytes: Vec<&[u8]> = data.bytes().chunks_exact(dtype.itemsize()).collect();
    if data.ty().ndim() == 0 {
        element(out, dtype, bytes[0]);
        return;
    }
    out.push('[');
    for (position, bytes) in bytes.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        element(out, dtype, bytes);
    }
    out.push(']');
}

fn element(out: &mut String, dtype: DType, bytes: &[u8]) {
    if dtype.is_complex() {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        element(out, dtype.part(), re);
        out.push(' ');
        element(out, dtype.part(), im);
        return;
    }
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    let unused = 64 - 8 * bytes.len() as u32;
    let _ = match dtype.kind() {
        Kind::Bool => write!(out, "{}", bits != 0),
        Kind::Float if dtype == DType::Float64 => {
            float(out, f64::from_bits(bits));
            Ok(())
        }
        Kind::Float if dtype == DType::Float16 => match from_half(bits as u16) {
            _ if bits == 0x7e00 => write!(out, "nan"),
            value if value.is_nan() => write!(out, "nan:{bits:04x}"),
            value => write!(out, "{:?}", shortest(value)),
        },
        Kind::Float | Kind::Complex => match f32::from_bits(bits as u32) {
            value if value.to_bits() == f32::NAN.to_bits() => write!(out, "nan"),
            value if value.is_nan() => write!(out, "nan:{:08x}", value.to_bits()),
            value => write!(out, "{value:?}"),
        },
        Kind::Integer if dtype.integer_range().is_some_and(|(low, _)| low < 0) => {
            write!(out, "{}", (bits << unused) as i64 >> unused)
        }
        Kind::Integer => write!(out, "{bits}"),
    };
}

/// The number with the fewest digits that rounds to this number of 16 bits.
fn shortest(value: f32) -> f64 {
    (0..5)
        .filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok())
        .find(|&near| from_half(to_half(near)) == value)
        .unwrap_or(value.into())
}

/// The shortest digits that give the number again; for a NaN, its bits, since NaNs differ by them.
pub(crate) fn float(out: &mut String, value: f64) {
    let _ = match value {
        _ if value.to_bits() == f64::NAN.to_bits() => write!(out, "nan"),
        _ if value.is_nan() => write!(out, "nan:{:016x}", value.to_bits()),
        _ => write!(out, "{value:?}"),
    };
}
