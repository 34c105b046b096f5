//! The type of a variable: element type and static shape.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;
use once_cell::race::OnceRef;

use crate::digest::{Digest, DigestWriter};
use crate::dtype::DType;
use crate::fork::{Held, Locks};
use crate::sync::RwLock;

/// One axis of a static shape: a known length, or `None`.
pub type Dim = Option<u64>;

struct TyData {
    dtype: DType,
    shape: Box<[Dim]>,
    digest: Digest,
    signature: OnceRef<'static, SignatureData>,
}

/// A tensor type. Interned for the life of the process: equal types are one pointer, copies are free.
///
/// A program meets few types, and none is ever freed, so threads share them without counting references.
#[derive(Clone, Copy)]
pub struct Ty(&'static TyData);

static TYPES: RwLock<HashTable<&'static TyData>> = RwLock::new(HashTable::new());

impl Ty {
    /// The type of tensors of `dtype` and `shape`.
    pub fn tensor(dtype: DType, shape: &[Dim]) -> Ty {
        let mut writer = DigestWriter::new(b'T');
        writer.byte(dtype as u8);
        writer.word(shape.len() as u64);
        for dim in shape {
            writer.byte(dim.is_some() as u8);
            writer.word(dim.unwrap_or(0));
        }
        let digest = writer.finish();
        let same = |data: &&'static TyData| data.dtype == dtype && *data.shape == *shape;
        if let Some(data) = TYPES.read().find(digest.short(), same) {
            return Ty(data);
        }
        let mut table = TYPES.write();
        let entry = table.entry(digest.short(), same, |data| data.digest.short());
        Ty(entry
            .or_insert_with(|| {
                Box::leak(Box::new(TyData {
                    dtype,
                    shape: shape.into(),
                    digest,
                    signature: OnceRef::new(),
                }))
            })
            .get())
    }

    /// The type of 0-d tensors of `dtype`.
    pub fn scalar(dtype: DType) -> Ty {
        Ty::tensor(dtype, &[])
    }

    /// The element type.
    pub fn dtype(self) -> DType {
        self.0.dtype
    }

    /// The static shape.
    pub fn shape(self) -> &'static [Dim] {
        &self.0.shape
    }

    /// The number of axes.
    pub fn ndim(self) -> usize {
        self.0.shape.len()
    }

    /// The digest of element type and shape.
    pub fn digest(self) -> Digest {
        self.0.digest
    }

    /// The signature of a node with one output of this type.
    pub fn signature(self) -> Signature {
        Signature(self.0.signature.get_or_init(|| Signature::new(&[self]).0))
    }

    /// Whether a value of type `other` may stand wherever one of this type is expected: the element type and
    /// rank agree, and every length known here is the same there.
    pub fn accepts(self, other: Ty) -> bool {
        self == other
            || self.dtype() == other.dtype()
                && self.ndim() == other.ndim()
                && self.shape().iter().zip(other.shape()).all(|(a, b)| a.is_none() || a == b)
    }

    /// Whether some value is of both types: they differ at most in lengths that one of them does not know.
    pub fn may_be(self, other: Ty) -> bool {
        self.dtype() == other.dtype()
            && self.ndim() == other.ndim()
            && (self.shape().iter().zip(other.shape()))
                .all(|(a, b)| a.is_none() || b.is_none() || a == b)
    }
}

impl PartialEq for Ty {
    fn eq(&self, other: &Ty) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Ty {}

impl Hash for Ty {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype())?;
        for (axis, dim) in self.shape().iter().enumerate() {
            if axis > 0 {
                f.write_str(", ")?;
            }
            match dim {
                Some(length) => write!(f, "{length}")?,
                None => f.write_str("?")?,
            }
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

struct SignatureData {
    types: Box<[Ty]>,
    digest: Digest,
}

/// The types of a node's outputs: one pointer, interned like a type.
#[derive(Clone, Copy)]
pub struct Signature(&'static SignatureData);

static SIGNATURES: RwLock<HashTable<&'static SignatureData>> = RwLock::new(HashTable::new());

/// The locks of all types and signatures.
pub(crate) struct Tables;

impl Locks for Tables {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        Box::new((TYPES.write(), SIGNATURES.write()))
    }
}

impl Signature {
    /// The signature with these output types.
    pub fn new(types: &[Ty]) -> Signature {
        let digest = if let [single] = types {
            // The usual case needs no second hash: a type's digest already tells it apart.
            single.digest()
        } else {
            let mut writer = DigestWriter::new(b'S');
            writer.word(types.len() as u64);
            types.iter().for_each(|ty| writer.digest(ty.digest()));
            writer.finish()
        };
        let same = |data: &&'static SignatureData| *data.types == *types;
        if let Some(data) = SIGNATURES.read().find(digest.short(), same) {
            return Signature(data);
        }
        let mut table = SIGNATURES.write();
        let entry = table.entry(digest.short(), same, |data| data.digest.short());
        Signature(
            entry
                .or_insert_with(|| {
                    Box::leak(Box::new(SignatureData { types: types.into(), digest }))
                })
                .get(),
        )
    }

    /// The output types.
    pub fn types(self) -> &'static [Ty] {
        &self.0.types
    }

    pub(crate) fn digest(self) -> Digest {
        self.0.digest
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Signature) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Signature {}

impl Hash for Signature {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.types()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_types_are_one() {
        let a = Ty::tensor(DType::Float64, &[None, Some(3)]);
        assert_eq!(a, Ty::tensor(DType::Float64, &[None, Some(3)]));
        assert_ne!(a, Ty::tensor(DType::Float64, &[None, None]));
        assert_ne!(a, Ty::tensor(DType::Float64, &[Some(0), Some(3)]));
        assert_eq!(a.to_string(), "float64[?, 3]");
        assert_eq!(Signature::new(&[a, a]), Signature::new(&[a, a]));
        assert_ne!(Signature::new(&[a]), Signature::new(&[a, a]));
    }

    #[test]
    fn a_general_type_accepts_a_special_one() {
        let general = Ty::tensor(DType::Float64, &[None, Some(3)]);
        let special = Ty::tensor(DType::Float64, &[Some(2), Some(3)]);
        assert!(general.accepts(special) && !special.accepts(general));
        assert!(!general.accepts(Ty::tensor(DType::Float32, &[Some(2), Some(3)])));
    }
}
