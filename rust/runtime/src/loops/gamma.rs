//! The logarithm of the gamma function, of single elements or of registers of them.
//!
//! From 1 to 3 it is `(x - 1) * (x - 2)` times a polynomial, one for each eighth, so that no digits are lost at its zeros.
//! Below 1 the recurrence leads there from `x + 1`, below 6 from `x - 1`, `x - 2` or `x - 3`; beyond, it is an asymptotic
//! series. So there is one logarithm, of `x` or of the product that the recurrence needs.

use crate::loops::lanes::{Float, Function, Lanes, polynomial};
use crate::loops::logarithm::two_parts;
use crate::loops::real;

/// The constants of the algorithm for one type: of this function, or of its derivative, which `digamma.rs` has.
pub(super) struct Gamma<T: 'static> {
    /// Added to a number, it leaves eighths, in the last bits.
    pub(super) magic: T,
    /// The polynomials of the eighths in the distance from their middles, from the lowest power on; those of eighths
    /// from 2 on come first.
    pub(super) terms: &'static [[T; 16]],
    /// The asymptotic series in `1 / x**2`, times `x`, from the lowest power on.
    pub(super) series: &'static [f64],
    /// Other numbers than those from `least` to `most` go to the C library one by one.
    pub(super) least: T,
    pub(super) most: T,
}

impl<T: Float> Gamma<T> {
    /// Whether no element goes to [`Function::rare`].
    #[inline(always)]
    pub(super) fn is_within<L: Lanes<Element = T>>(&self, x: L) -> bool {
        let (zero, one) = (L::number(0.0), L::number(1.0));
        // A NaN is neither below nor above.
        let large = L::all(self.most).below(x, one, zero);
        x.below(L::all(self.least), one, large).all_within(L::number(0.5))
    }
}

pub(super) const OF_F64: Gamma<f64> = Gamma {
    magic: 844_424_930_131_968.0,
    terms: &TERMS_OF_F64,
    series: &[
        0.0833333333333333,
        -0.0027777777776807643,
        0.0007936507373369848,
        -0.0005952257418022643,
        0.0008404447851602169,
        -0.0018449995052567591,
        0.004298394281325464,
    ],
    least: 1e-300,
    most: 1e300,
};

pub(super) const OF_F32: Gamma<f32> = Gamma {
    magic: 1_572_864.0,
    terms: &TERMS_OF_F32,
    series: &[0.083333336, -0.0027775331, 0.0007698803],
    least: 1e-36,
    most: 1e36,
};

const TERMS_OF_F64: [[f64; 16]; 11] = [
    [
        0.4166403241089058,
        0.4050578590703812,
        0.3943186181242154,
        0.3843228883324753,
        0.37498700145448144,
        0.36624012221612273,
        0.3580217950081825,
        0.35028004491967374,
        0.5624678450103948,
        0.5360350719541803,
        0.5129377501958122,
        0.4925051009992032,
        0.4742448086605885,
        0.45778560919156,
        0.4428410991043222,
        0.42918603781101006,
    ],
    [
        -0.09633707812725548,
        -0.08914163920294128,
        -0.08281860573117705,
        -0.07722420585841787,
        -0.07224410790626559,
        -0.06778631685359648,
        -0.06377602190558561,
        -0.060151799585048,
        -0.22708692179611437,
        -0.19707582313985467,
        -0.17336357289234458,
        -0.15420787248600382,
        -0.13844715293951282,
        -0.12527883665074532,
        -0.11413155948862734,
        -0.10458810174011886,
    ],
    [
        0.030755175115295696,
        0.02692952593307508,
        0.02374993837153369,
        0.021081016550400237,
        0.018820759079194,
        0.01689119375148729,
        0.015231928092489388,
        0.013795625274613695,
        0.13583155412117442,
        0.10602792613810978,
        0.0848062252339821,
        0.06919975055091834,
        0.05741291522045755,
        0.04830958014903983,
        0.04114366769285378,
        0.0354095570680482,
    ],
    [
        -0.011212618470412975,
        -0.009271122720890694,
        -0.007746252667411322,
        -0.006532924478935919,
        -0.005556155749515683,
        -0.004761503208500157,
        -0.004108811313070708,
        -0.0035680384408044684,
        -0.0948099969415641,
        -0.06635167328277283,
        -0.048107026847692066,
        -0.035904368861334246,
        -0.027452425453379847,
        -0.02142396523507419,
        -0.017015257490073824,
        -0.01372089781342121,
    ],
    [
        0.004390204366862344,
        0.003425058821111088,
        0.00270896676060056,
        0.002169030860277621,
        0.0017559890293042796,
        0.0014358705798611256,
        0.001184818304793296,
        0.0009857982861002227,
        0.0715358115709065,
        0.04485279040296171,
        0.02945512470484729,
        0.020091384250882503,
        0.014145195457102184,
        0.01022952173443242,
        0.007569957245795218,
        0.005714739627534153,
    ],
    [
        -0.0017958003866326575,
        -0.0013214899851801156,
        -0.0009890908817945018,
        -0.0007516262498291494,
        -0.0005790329769181585,
        -0.000451622896199288,
        -0.00035623137419090747,
        -0.0002838883464994936,
        -0.056478830677010476,
        -0.031724023612083437,
        -0.018867964779833275,
        -0.011760247136259222,
        -0.007622480382504306,
        -0.005107051111359667,
        -0.003520429537932395,
        -0.002487343147527428,
    ],
    [
        0.0007562574859468532,
        0.0005248749504558406,
        0.00037172055411030275,
        0.00026806033734230885,
        0.00019648140564242273,
        0.00014615442601200924,
        0.00011018533580680416,
        8.409146168970981e-05,
        0.04591306478610794,
        0.023104164001849736,
        0.012445350277191805,
        0.007088427874666933,
        0.004229715720666115,
        0.00262545018810486,
        0.0016857702031481039,
        0.00111467527046525,
    ],
    [
        -0.00032508066939611617,
        -0.0002127913153291165,
        -0.0001425917364491966,
        -9.757697429986917e-05,
        -6.804659582242566e-05,
        -4.8271822924993705e-05,
        -3.4780577393167406e-05,
        -2.5418526913288957e-05,
        -0.038089210683568527,
        -0.01717168307990453,
        -0.008377707680566131,
        -0.0043605227744761225,
        -0.00239552131750918,
        -0.0013776134016839406,
        -0.0008239536762732392,
        -0.0005098817013994213,
    ],
    [
        0.00014186698424766472,
        8.758508327908474e-05,
        5.553373523138827e-05,
        3.606205060499653e-05,
        2.3926556007114825e-05,
        1.618683559100671e-05,
        1.1146314390342952e-05,
        7.800507270572456e-06,
        0.032076581385190796,
        0.012954897909053537,
        0.0057244965242587206,
        0.002722873156247615,
        0.0013772135859080614,
        0.0007338008021028443,
        0.00040883655156500655,
        0.0002367811533851813,
    ],
    [
        -6.276592120695336e-05,
        -3.6539924285129204e-05,
        -2.1918183427086416e-05,
        -1.3504358897805107e-05,
        -8.523511732706685e-06,
        -5.498518075083978e-06,
        -3.618239671213791e-06,
        -2.4245270359900165e-06,
        -0.027548148198733025,
        -0.009950551311379953,
        -0.003977586216274212,
        -0.0017274358885011542,
        -0.0008038939830463109,
        -0.00039664612380902863,
        -0.00020577734923512607,
        -0.00011150343070083087,
    ],
    [
        2.7963813986525362e-05,
        1.5354887914486398e-05,
        8.715444998199451e-06,
        5.095861320460364e-06,
        3.060192342807289e-06,
        1.8827101188061158e-06,
        1.1840544797490598e-06,
        7.597779957145689e-07,
        0.023690625928281167,
        0.007664456819367763,
        0.002774557275036314,
        0.0011010999211787948,
        0.0004717674207977361,
        0.0002156683367549071,
        0.00010422920981111023,
        5.2860147020206616e-05,
    ],
];
const TERMS_OF_F32: [[f32; 16]; 5] = [
    [
        0.4166403, 0.40505785, 0.3943186, 0.38432288, 0.374987, 0.3662401, 0.3580218, 0.35028005,
        0.5624679, 0.53603506, 0.5129377, 0.4925051, 0.4742448, 0.4577856, 0.4428411, 0.42918605,
    ],
    [
        -0.09633707,
        -0.08914163,
        -0.0828186,
        -0.0772242,
        -0.07224411,
        -0.06778631,
        -0.06377602,
        -0.060151797,
        -0.22708665,
        -0.19707566,
        -0.17336348,
        -0.15420781,
        -0.13844712,
        -0.12527882,
        -0.11413154,
        -0.10458809,
    ],
    [
        0.030755172,
        0.026929524,
        0.023749936,
        0.021081015,
        0.018820759,
        0.016891193,
        0.015231928,
        0.0137956245,
        0.13583134,
        0.10602782,
        0.08480617,
        0.06919972,
        0.057412896,
        0.04830957,
        0.04114366,
        0.03540955,
    ],
    [
        -0.011221393,
        -0.009277579,
        -0.007751085,
        -0.0065365965,
        -0.0055589844,
        -0.0047637094,
        -0.0041105514,
        -0.003569425,
        -0.0950865,
        -0.06650691,
        -0.048199315,
        -0.035961874,
        -0.02748969,
        -0.021448929,
        -0.017032463,
        -0.013733053,
    ],
    [
        0.0043939,
        0.0034276233,
        0.002710783,
        0.0021703404,
        0.0017569489,
        0.0014365845,
        0.0011853565,
        0.000986209,
        0.07176061,
        0.044965852,
        0.029516002,
        0.020126048,
        0.014165875,
        0.010242355,
        0.0075781965,
        0.005720187,
    ],
];
/// Half of the logarithm of a turn, less a half.
const OFFSET: f64 = 0.418_938_533_204_672_7;

#[expect(non_camel_case_types, reason = "it is named as the function that it is")]
pub(super) struct gammaln;

impl Function for gammaln {
    #[inline(always)]
    fn of<L: Lanes>(x: L) -> L {
        let (one, six) = (L::number(1.0), L::number(6.0));
        let (y, product) = between_one_and_three(x);
        let u = x.below(one, x, y.sub(one));
        let zeros = u.mul(u.sub(one));
        let factor = x.below(one, x, x.below(L::number(3.0), one, x.below(six, product, x)));
        let (sum, rest) = two_parts(factor);
        let (near, log) = (zeros.mul(quotient(y, L::GAMMA)), sum.add(rest));
        let near = x.below(one, near.sub(log), near.add(log));
        let inverse = one.div(x);
        let series = polynomial(inverse.mul(inverse), L::GAMMA.series);
        let tail = inverse.fma(series, L::number(OFFSET));
        let far = x.sub(L::number(0.5)).fma(sum.sub(one).add(rest), tail);
        x.below(six, near, far)
    }

    #[inline(always)]
    fn is_common<L: Lanes>(x: L) -> bool {
        L::GAMMA.is_within(x)
    }

    fn rare(x: f64) -> f64 {
        real::gammaln(x)
    }
}

/// The argument to which the recurrence leads, and the product of what it passes on its way down.
#[inline(always)]
fn between_one_and_three<L: Lanes>(x: L) -> (L, L) {
    let (one, three) = (L::number(1.0), L::number(3.0));
    let (mut y, mut product) = (x.below(one, x.add(one), x), one);
    for _ in 0..3 {
        let less = y.sub(one);
        product = y.below(three, product, product.mul(less));
        y = y.below(three, y, less);
    }
    (y, product)
}

/// The polynomial of the eighth that a number from 1 to 3 is in: the function over the product of its distances from the zeros.
#[inline(always)]
pub(super) fn quotient<L: Lanes>(y: L, own: &Gamma<L::Element>) -> L {
    let (magic, half) = (L::all(own.magic), L::number(0.0625));
    let t = y.sub(half).add(magic);
    let r = y.sub(t.sub(magic).add(half));
    let s = r.mul(r);
    let low = s.fma(pair(r, t, own.terms, 3), pair(r, t, own.terms, 1));
    let tail = if L::IS_DOUBLE {
        let (fourth, middle) =
            (s.mul(s), s.fma(pair(r, t, own.terms, 7), pair(r, t, own.terms, 5)));
        fourth.fma(fourth.fma(pair(r, t, own.terms, 9), middle), low)
    } else {
        low
    };
    r.fma(tail, t.taken_from(&own.terms[0]))
}

/// Two terms of the polynomial of an eighth, the second times the distance. No closure: it would not be compiled for the
/// instructions that its caller has.
#[inline(always)]
fn pair<L: Lanes>(r: L, t: L, terms: &[[L::Element; 16]], at: usize) -> L {
    r.fma(t.taken_from(&terms[at + 1]), t.taken_from(&terms[at]))
}
