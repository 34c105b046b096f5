//! Constants: immutable arrays, identified by their content.

use bytemuck::{Pod, Zeroable};

use super::digest::{Digest, DigestWriter};
use super::dtype::DType;
use super::error::Error;
use super::half::to_half;
use super::ty::{Dim, Ty};

/// Storage unit; its alignment is that of the widest vector load.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Block([u8; 64]);

/// An immutable C-order array. Two are equal when type and bytes are: a NaN equals itself, 0.0 and -0.0 differ.
#[derive(Clone)]
pub struct ConstantData {
    ty: Ty,
    length: usize,
    blocks: Box<[Block]>,
    digest: Digest,
}

impl ConstantData {
    /// The array of `dtype` and `shape` whose C-order bytes are `bytes`.
    pub fn new(dtype: DType, shape: &[u64], bytes: &[u8]) -> Result<ConstantData, Error> {
        let elements = shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length));
        let expected = elements.and_then(|n| n.checked_mul(dtype.itemsize() as u64));
        if expected != Some(bytes.len() as u64) {
            return Err(Error::ConstantLength { shape: shape.into(), dtype, given: bytes.len() });
        }
        let dims: Vec<Dim> = shape.iter().copied().map(Some).collect();
        let ty = Ty::tensor(dtype, &dims);
        let mut blocks = vec![Block::zeroed(); bytes.len().div_ceil(64)].into_boxed_slice();
        bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        let mut writer = DigestWriter::new(b'C');
        writer.digest(ty.digest());
        writer.digest(Digest::of(bytes));
        Ok(ConstantData { ty, length: bytes.len(), blocks, digest: writer.finish() })
    }

    /// The type; its shape is fully known.
    pub fn ty(&self) -> &Ty {
        &self.ty
    }

    /// The C-order bytes, aligned to 64.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.blocks)[..self.length]
    }

    /// The digest of type and content.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl PartialEq for ConstantData {
    fn eq(&self, other: &ConstantData) -> bool {
        self.ty == other.ty && self.bytes() == other.bytes()
    }
}

/// A Python number without a dtype of its own: it takes the dtype of the operands beside it (NEP 50).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeakScalar {
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// A complex number: its real and its imaginary part.
    Complex(f64, f64),
}

impl WeakScalar {
    /// The number's dtype without other operands: one of NumPy's default types.
    pub fn default_dtype(self) -> DType {
        match self {
            WeakScalar::Bool(_) => DType::Bool,
            WeakScalar::Int(value) if value > i64::MAX as i128 => DType::UInt64,
            WeakScalar::Int(_) => DType::Int64,
            WeakScalar::Float(_) => DType::Float64,
            WeakScalar::Complex(..) => DType::Complex128,
        }
    }

    /// The dtype of this number beside arrays of `other`.
    pub fn dtype_beside(self, other: DType) -> DType {
        match self {
            WeakScalar::Bool(_) => other.promote(DType::Bool),
            WeakScalar::Int(_) if other == DType::Bool => self.default_dtype(),
            WeakScalar::Float(_) if !other.is_float() && !other.is_complex() => DType::Float64,
            WeakScalar::Complex(..) if other.is_float() || other.is_complex() => other.complex(),
            WeakScalar::Complex(..) => DType::Complex128,
            WeakScalar::Int(_) | WeakScalar::Float(_) => other,
        }
    }

    /// The 0-d constant of `dtype`; an integer that does not fit is an error, as in NumPy.
    pub fn constant(self, dtype: DType) -> Result<ConstantData, Error> {
        let integer = match self {
            WeakScalar::Bool(value) => value as i128,
            WeakScalar::Int(value) => value,
            WeakScalar::Complex(re, im) => return complex(re, im, dtype),
            WeakScalar::Float(value) => {
                return match dtype {
                    DType::Float16 => ConstantData::new(dtype, &[], &to_half(value).to_ne_bytes()),
                    DType::Float32 => ConstantData::new(dtype, &[], &(value as f32).to_ne_bytes()),
                    DType::Float64 => ConstantData::new(dtype, &[], &value.to_ne_bytes()),
                    _ if dtype.is_complex() => complex(value, 0.0, dtype),
                    _ => Err(Error::FloatForInteger { value, dtype }),
                };
            }
        };
        match dtype {
            DType::Bool => ConstantData::new(dtype, &[], &[(integer != 0) as u8]),
            DType::Float16 => ConstantData::new(dtype, &[], &to_half(integer as f64).to_ne_bytes()),
            DType::Float32 => ConstantData::new(dtype, &[], &(integer as f32).to_ne_bytes()),
            DType::Float64 => ConstantData::new(dtype, &[], &(integer as f64).to_ne_bytes()),
            _ if dtype.is_complex() => complex(integer as f64, 0.0, dtype),
            _ => {
                let (low, high) = dtype.integer_range().expect("an integer dtype has a range");
                if integer < low || integer > high {
                    return Err(Error::IntegerOutOfBounds { value: integer, dtype });
                }
                // Little endian is the only order that frazil runs on; see the compile-time check below.
                ConstantData::new(dtype, &[], &integer.to_le_bytes()[..dtype.itemsize()])
            }
        }
    }
}

/// The 0-d constant of a complex type with these parts.
fn complex(re: f64, im: f64, dtype: DType) -> Result<ConstantData, Error> {
    match dtype {
        DType::Complex64 => {
            let parts = [re as f32, im as f32].map(f32::to_ne_bytes);
            ConstantData::new(dtype, &[], parts.as_flattened())
        }
        DType::Complex128 => {
            ConstantData::new(dtype, &[], [re, im].map(f64::to_ne_bytes).as_flattened())
        }
        _ => Err(Error::ComplexForReal { re, im, dtype }),
    }
}

const _: () = assert!(cfg!(target_endian = "little"), "digests and constants are little endian");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_equality() {
        let float = |value: f64| WeakScalar::Float(value).constant(DType::Float64).unwrap();
        assert!(float(f64::NAN) == float(f64::NAN));
        assert!(float(0.0) != float(-0.0));
        assert!(float(1.0) != WeakScalar::Int(1).constant(DType::Int64).unwrap());
        assert_eq!(float(1.5).bytes(), 1.5f64.to_ne_bytes());
        assert_eq!(float(1.5).bytes().as_ptr() as usize % 64, 0);
    }

    #[test]
    fn lengths_are_checked() {
        assert!(ConstantData::new(DType::Int32, &[3], &[0; 11]).is_err());
        assert!(ConstantData::new(DType::Int64, &[u64::MAX, 2], &[]).is_err());
        assert!(ConstantData::new(DType::Int64, &[0, 5], &[]).is_ok());
    }

    #[test]
    fn integers_out_of_bounds_are_refused() {
        assert!(WeakScalar::Int(300).constant(DType::Int8).is_err());
        assert!(WeakScalar::Int(-1).constant(DType::UInt8).is_err());
        assert_eq!(WeakScalar::Int(-2).constant(DType::Int16).unwrap().bytes(), [0xfe, 0xff]);
    }
}
