//! The type of a variable: element type and static shape.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::digest::{Digest, DigestWriter};
use super::dtype::DType;
use crate::intern::sync::Lasting;
use crate::intern::{Handle, Interned, Interner, LASTING};

/// One axis of a static shape: a known length, or `None`.
pub type Dim = Option<u64>;

/// The stored data of a type, or of the types of several outputs.
pub(crate) struct TyData {
    digest: Digest,
    kind: Kind,
}

#[derive(PartialEq)]
enum Kind {
    Tensor(DType, Box<[Dim]>),
    /// The types of a node's outputs, unless there is one.
    Several(Box<[Ty]>),
}

/// A tensor type, interned: equal types are one pointer.
///
/// The first few thousand types live as long as the process, and copies of them are free. Later ones die with their
/// last handle, since a program may meet any number of static shapes.
#[derive(Clone, PartialEq, Eq)]
pub struct Ty(Handle<TyData>);

static TYPES: Lasting<Arc<Interner<TyData>>> = Lasting::new(Interner::of_process);

impl Interned for TyData {
    type Owner = Interner<TyData>;
    const LASTING: u32 = LASTING;

    fn interner(types: &Interner<TyData>) -> &Interner<TyData> {
        types
    }

    fn hash(&self) -> u64 {
        self.digest.short()
    }

    fn same(&self, other: &TyData) -> bool {
        self.kind == other.kind
    }
}

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
        let types = TYPES.get();
        let same = |data: &TyData| matches!(&data.kind, Kind::Tensor(of, known) if *of == dtype && **known == *shape);
        let known = types.find(digest.short(), same);
        let make = || {
            let kind = Kind::Tensor(dtype, shape.into());
            Handle::intern(types, TyData { digest, kind })
        };
        Ty(known.unwrap_or_else(make))
    }

    /// The type of 0-d tensors of `dtype`.
    pub fn scalar(dtype: DType) -> Ty {
        Ty::tensor(dtype, &[])
    }

    fn parts(&self) -> (DType, &[Dim]) {
        match &self.0.kind {
            Kind::Tensor(dtype, shape) => (*dtype, shape),
            Kind::Several(_) => unreachable!("the types of several outputs are no type"),
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.parts().0
    }

    /// Whether the elements are complex numbers.
    pub fn is_complex(&self) -> bool {
        self.dtype().is_complex()
    }

    /// The static shape.
    pub fn shape(&self) -> &[Dim] {
        self.parts().1
    }

    /// The number of axes.
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// The digest of element type and shape.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// A number that no other live type has; it says nothing else.
    pub(crate) fn address(&self) -> usize {
        self.0.address()
    }

    /// The signature of a node with one output of this type.
    pub fn signature(&self) -> Signature {
        Signature(self.clone())
    }

    /// Whether a value of type `other` may stand wherever one of this type is expected: the element type and
    /// rank agree, and every length known here is the same there.
    pub fn accepts(&self, other: &Ty) -> bool {
        self == other
            || self.dtype() == other.dtype()
                && self.ndim() == other.ndim()
                && self.shape().iter().zip(other.shape()).all(|(a, b)| a.is_none() || a == b)
    }

    /// Whether some value is of both types: they differ at most in lengths that one of them does not know.
    pub fn may_be(&self, other: &Ty) -> bool {
        self.dtype() == other.dtype()
            && self.ndim() == other.ndim()
            && (self.shape().iter().zip(other.shape()))
                .all(|(a, b)| a.is_none() || b.is_none() || a == b)
    }
}

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

/// The types of a node's outputs: one pointer, interned like a type. For one output it is the type's own pointer.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature(Ty);

impl Signature {
    /// The signature with these output types.
    pub fn new(types: &[Ty]) -> Signature {
        if let [single] = types {
            return single.signature();
        }
        let mut writer = DigestWriter::new(b'S');
        writer.word(types.len() as u64);
        types.iter().for_each(|ty| writer.digest(ty.digest()));
        let data = TyData { digest: writer.finish(), kind: Kind::Several(types.into()) };
        Signature(Ty(Handle::intern(TYPES.get(), data)))
    }

    /// The output types.
    pub fn types(&self) -> &[Ty] {
        match &self.0.0.kind {
            Kind::Tensor(..) => std::slice::from_ref(&self.0),
            Kind::Several(types) => types,
        }
    }

    pub(crate) fn digest(&self) -> Digest {
        self.0.digest()
    }

    /// A number that no other live signature has; it says nothing else.
    pub(crate) fn address(&self) -> usize {
        self.0.address()
    }
}

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

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    #[test]
    fn equal_types_are_one() {
        let a = Ty::tensor(DType::Float64, &[None, Some(3)]);
        assert_eq!(a, Ty::tensor(DType::Float64, &[None, Some(3)]));
        assert_ne!(a, Ty::tensor(DType::Float64, &[None, None]));
        assert_ne!(a, Ty::tensor(DType::Float64, &[Some(0), Some(3)]));
        assert_eq!(a.to_string(), "float64[?, 3]");
        let two = || Signature::new(&[a.clone(), a.clone()]);
        assert_eq!(two(), two());
        assert_ne!(Signature::new(&[a.clone()]), two());
        assert_eq!(two().types(), [a.clone(), a.clone()]);
        assert_eq!(a.signature().types(), [a]);
    }

    #[test]
    fn a_general_type_accepts_a_special_one() {
        let general = Ty::tensor(DType::Float64, &[None, Some(3)]);
        let special = Ty::tensor(DType::Float64, &[Some(2), Some(3)]);
        assert!(general.accepts(&special) && !special.accepts(&general));
        assert!(!general.accepts(&Ty::tensor(DType::Float32, &[Some(2), Some(3)])));
    }

    #[test]
    fn what_a_program_meets_many_of_goes_with_the_last_handle() {
        const MANY: u64 = 3 * TyData::LASTING as u64;
        let make = |length| Ty::tensor(DType::Int8, &[Some(length), None, Some(17)]);
        let several = |length| Signature::new(&[make(length), Ty::scalar(DType::Bool)]);
        let living = || {
            let living = TYPES.get().living().into_iter().map(Ty);
            let types = living.filter(|ty| matches!(ty.0.kind, Kind::Tensor(..)));
            types.filter(|ty| ty.shape().len() == 3 && ty.0.is_counted()).count()
        };
        let types: Vec<Ty> = (0..MANY).map(make).collect();
        assert!(types.iter().zip(0..).all(|(ty, length)| *ty == make(length)));
        assert!(living() as u32 >= TyData::LASTING && types[MANY as usize - 1].0.is_counted());
        let signatures: Vec<Signature> = (0..MANY).map(several).collect();
        drop(types);
        assert!(living() as u32 >= TyData::LASTING);
        drop(signatures);
        assert_eq!(living(), 0);
    }
}
