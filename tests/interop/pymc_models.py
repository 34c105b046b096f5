"""Small models in the styles that PyMC's users write; each function builds one.

The data are drawn or made up, unless a docstring says where they are from.
"""

import warnings
from collections.abc import Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
N = 30
DRAWN = np.random.default_rng(20)
X = DRAWN.normal(size=(N, 3))
Y = X @ [1.0, -2.0, 0.5] + DRAWN.normal(size=N)
TIMES = np.linspace(0, 3, N)
GROUPS = DRAWN.integers(0, 5, N)
COUNTS = DRAWN.poisson(3.0, N)
BINARY = DRAWN.integers(0, 2, N)
POSITIVE = DRAWN.gamma(2.0, 1.5, N)
RETURNS = DRAWN.normal(0, 1, N) * np.exp(DRAWN.normal(0, 0.3, N))

MODELS: dict[str, Callable[[], pm.Model]] = {}


def model(build):
    """Keep the model that ``build`` writes, under its name."""

    def make():
        with pm.Model() as made:
            build()
        return made

    make.__name__ = build.__name__
    MODELS[build.__name__] = make
    return make


@model
def eight_schools():
    """Effects of coaching at eight schools, as Rubin told them in 1981."""
    mean, spread = pm.Normal("mean", 0, 5), pm.HalfCauchy("spread", 5)
    each = pm.Normal("each", 0, 1, shape=8)
    pm.Normal("y", mean + spread * each, ERRORS, observed=EFFECTS)


@model
def eight_schools_centred():
    mean, spread = pm.Normal("mean", 0, 5), pm.HalfStudentT("spread", nu=3, sigma=5)
    each = pm.Normal("each", mean, spread, shape=8)
    pm.Normal("y", each, ERRORS, observed=EFFECTS)


@model
def linear_regression():
    a, b, sigma = pm.Flat("a"), pm.Normal("b", 0, 10, shape=3), pm.HalfNormal("sigma", 1)
    pm.Normal("y", a + pm.math.dot(X, b), sigma, observed=Y)


@model
def robust_regression():
    b, nu = pm.Normal("b", 0, 10, shape=3), pm.Exponential("nu", 1 / 30)
    pm.StudentT("y", nu=nu + 1, mu=X @ b, sigma=pm.HalfCauchy("sigma", 2), observed=Y)


@model
def horseshoe_regression():
    tau, lam = pm.HalfCauchy("tau", 0.1), pm.HalfCauchy("lam", 1, shape=3)
    c2 = pm.InverseGamma("c2", 2, 4)
    shrunk = tau * lam * pt.sqrt(c2 / (c2 + tau**2 * lam**2))
    b = pm.Normal("b", 0, 1, shape=3)
    pm.Normal("y", X @ (b * shrunk), pm.Exponential("sigma", 1), observed=Y)


@model
def quantile_regression():
    b = pm.Normal("b", 0, 5, shape=3)
    pm.AsymmetricLaplace("y", b=1.0, q=0.8, mu=X @ b, observed=Y)


@model
def logistic_regression():
    b = pm.Laplace("b", 0, 1, shape=3)
    pm.Bernoulli("y", logit_p=X @ b, observed=BINARY)


@model
def probit_regression():
    b = pm.Normal("b", 0, 1, shape=3)
    pm.Bernoulli("y", p=pm.math.invprobit(X @ b), observed=BINARY)


@model
def multinomial_regression():
    b = pm.ZeroSumNormal("b", 1.0, shape=(3, 4))
    pm.Categorical("y", logit_p=X @ b, observed=GROUPS % 4)


@model
def poisson_regression():
    b = pm.Normal("b", 0, 1, shape=3)
    pm.Poisson("y", pt.exp(X @ b), observed=COUNTS)


@model
def negative_binomial_regression():
    b, alpha = pm.Normal("b", 0, 1, shape=3), pm.Exponential("alpha", 0.5)
    pm.NegativeBinomial("y", mu=pt.exp(X @ b), alpha=alpha, observed=COUNTS)


@model
def zero_inflated_poisson():
    psi, theta = pm.Beta("psi", 1, 1), pm.Gamma("theta", 2, 1)
    pm.ZeroInflatedPoisson("y", psi, theta, observed=COUNTS * BINARY)


@model
def hurdle_counts():
    psi, mu = pm.Beta("psi", 2, 2), pm.Gamma("mu", 2, 1)
    pm.HurdlePoisson("y", psi, mu, observed=COUNTS * BINARY)


@model
def binomial_hierarchy():
    phi, kappa = pm.Uniform("phi", 0, 1), pm.Pareto("kappa", alpha=1.5, m=1)
    theta = pm.Beta("theta", phi * kappa, (1 - phi) * kappa, shape=5)
    pm.BetaBinomial("z", alpha=phi * kappa + 1, beta=kappa, n=10, observed=[3, 4, 5])
    pm.Binomial("y", n=45, p=theta, observed=[10, 12, 14, 20, 9])


@model
def radon():
    """The shape of Gelman and Hill's model of radon in houses: levels and slopes by county."""
    mean_a, mean_b = pm.Normal("mean_a", 0, 1), pm.Normal("mean_b", 0, 1)
    a = pm.Normal("a", mean_a, pm.HalfNormal("sigma_a", 1), shape=5)
    b = mean_b + pm.HalfNormal("sigma_b", 1) * pm.Normal("b", 0, 1, shape=5)
    pm.Normal("y", a[GROUPS] + b[GROUPS] * X[:, 0], pm.Exponential("eps", 1), observed=Y)


@model
def correlated_slopes():
    factor, _, _ = pm.LKJCholeskyCov("factor", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0))
    raw = pm.Normal("raw", 0, 1, shape=(2, 5))
    both = pt.dot(factor, raw).T
    pm.Normal("y", both[GROUPS, 0] + both[GROUPS, 1] * X[:, 0], 1.0, observed=Y)


@model
def multivariate_normal():
    factor, _, _ = pm.LKJCholeskyCov("factor", n=3, eta=1.0, sd_dist=pm.HalfNormal.dist(1.0))
    pm.MvNormal("y", pm.Normal("mu", 0, 1, shape=3), chol=factor, observed=X)


@model
def multivariate_covariance():
    sd = pm.HalfNormal("sd", 1, shape=3)
    cov = pt.diag(sd**2) + 0.1
    pm.MvNormal("y", np.zeros(3), cov=cov, observed=X)


@model
def multivariate_student():
    nu = pm.Gamma("nu", 2, 0.1)
    scale = pt.eye(3) * pm.HalfNormal("sd", 1)
    pm.MvStudentT("y", nu=nu + 2, mu=np.zeros(3), scale=scale, observed=X)


@model
def normal_mixture():
    w = pm.Dirichlet("w", np.ones(3))
    mu = pm.Normal("mu", [-2.0, 0.0, 2.0], 1.0, shape=3)
    pm.NormalMixture("y", w, mu, sigma=pm.HalfNormal("sigma", 1, shape=3), observed=Y)


@model
def general_mixture():
    w = pm.Dirichlet("w", np.ones(2))
    parts = [pm.Normal.dist(pm.Normal("m", 0, 1), 1.0), pm.StudentT.dist(nu=4, mu=1.0, sigma=2.0)]
    pm.Mixture("y", w, parts, observed=Y)


@model
def stick_breaking():
    alpha = pm.Gamma("alpha", 1, 1)
    v = pm.Beta("v", 1, alpha, shape=4)
    rest = pt.concatenate([[1.0], pt.cumprod(1 - v)[:-1]])
    w = pm.Deterministic("w", v * rest)
    pm.NormalMixture("y", w / w.sum(), pm.Normal("mu", 0, 3, shape=4), sigma=1.0, observed=Y)


@model
def marginalised_changepoint():
    early, late = pm.Exponential("early", 0.3), pm.Exponential("late", 0.3)
    days = np.arange(N)
    rate = pt.where(days[:, None] >= days[None, :], late, early)
    each = pm.logp(pm.Poisson.dist(rate), COUNTS[:, None]).sum(axis=0)
    pm.Potential("change", pt.logsumexp(each))


@model
def hidden_markov():
    stay = pm.Beta("stay", 5, 2, shape=2)
    mu = pm.Normal("mu", [-1.0, 1.0], 1.0, shape=2)
    move = pt.stack([pt.stack([stay[0], 1 - stay[0]]), pt.stack([1 - stay[1], stay[1]])])
    each = pm.logp(pm.Normal.dist(mu[None], 1.0), Y[:, None])
    ends = pytensor.scan(
        lambda now, before, move: pt.logsumexp(before[:, None] + pt.log(move), axis=0) + now,
        sequences=each[1:],
        outputs_info=each[0] - np.log(2.0),
        non_sequences=move,
        return_updates=False,
    )
    pm.Potential("path", pt.logsumexp(ends[-1]))


@model
def random_walk():
    sigma = pm.Exponential("sigma", 10)
    level = pm.GaussianRandomWalk("level", sigma=sigma, init_dist=pm.Normal.dist(0, 1), shape=N)
    pm.StudentT("y", nu=5, mu=0, sigma=pt.exp(level), observed=RETURNS)


@model
def autoregression():
    rho, sigma = pm.Normal("rho", 0, 0.5, shape=2), pm.HalfNormal("sigma", 1)
    pm.AR("y", rho, sigma=sigma, init_dist=pm.Normal.dist(0, 1), observed=Y)


@model
def garch():
    omega, alpha = pm.HalfNormal("omega", 1), pm.Beta("alpha", 1, 3)
    beta = pm.Beta("beta", 3, 1)
    pm.GARCH11("y", omega, alpha, beta, initial_vol=1.0, observed=RETURNS)


@model
def garch_by_scan():
    omega, alpha = pm.HalfNormal("omega", 1), pm.Uniform("alpha", 0, 1)
    beta = pm.Uniform("beta", 0, 1)
    variances = pytensor.scan(
        lambda r, v, omega, alpha, beta: omega + alpha * r**2 + beta * v,
        sequences=pt.as_tensor(RETURNS[:-1]),
        outputs_info=pt.as_tensor(np.array(1.0)),
        non_sequences=[omega, alpha, beta],
        return_updates=False,
    )
    pm.Normal("y", 0, pt.sqrt(pt.concatenate([[1.0], variances])), observed=RETURNS)


@model
def local_level_filter():
    """A Kalman filter of one level, written as a scan."""
    q, r = pm.HalfNormal("q", 1), pm.HalfNormal("r", 1)

    def step(y, mean, var, q, r):
        var = var + q**2
        total = var + r**2
        gain = var / total
        each = -0.5 * (pt.log(2 * np.pi * total) + (y - mean) ** 2 / total)
        return mean + gain * (y - mean), (1 - gain) * var, each

    start = [pt.as_tensor(np.array(0.0)), pt.as_tensor(np.array(1.0)), None]
    *_, each = pytensor.scan(step, pt.as_tensor(Y), start, [q, r], return_updates=False)
    pm.Potential("seen", each.sum())


@model
def seasonal_model():
    waves = 2 * np.pi * TIMES[:, None] * np.arange(1, 4)
    basis = np.concatenate([np.sin(waves), np.cos(waves)], axis=1)
    b, slope = pm.Laplace("b", 0, 1, shape=6), pm.Normal("slope", 0, 1)
    change = pm.Normal("change", 0, 0.1, shape=4)
    knots = np.linspace(0, 3, 4)
    trend = slope * TIMES + ((TIMES[:, None] > knots) * change).sum(axis=1)
    pm.Normal("y", trend + basis @ b, pm.HalfCauchy("sigma", 1), observed=Y)


@model
def gaussian_process():
    length, eta = pm.Gamma("length", 2, 1), pm.HalfCauchy("eta", 5)
    gp = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.Matern52(1, length))
    gp.marginal_likelihood("y", X=TIMES[:, None], y=Y, sigma=pm.HalfCauchy("sigma", 5))


@model
def latent_gaussian_process():
    gp = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, pm.Gamma("length", 2, 1)))
    f = gp.prior("f", X=TIMES[:, None])
    pm.Bernoulli("y", logit_p=f, observed=BINARY)


@model
def hilbert_space_process():
    gp = pm.gp.HSGP(m=[8], c=2.0, cov_func=pm.gp.cov.Matern32(1, pm.Gamma("length", 2, 1)))
    pm.Normal("y", gp.prior("f", X=TIMES[:, None]), 0.5, observed=Y)


@model
def ordinal_regression():
    cuts = pm.Normal(
        "cuts", 0, 2, shape=4, transform=pm.distributions.transforms.ordered, initval=np.arange(4)
    )
    pm.OrderedLogistic("y", eta=X @ pm.Normal("b", 0, 1, shape=3), cutpoints=cuts, observed=GROUPS)


@model
def weibull_survival():
    alpha, b = pm.Exponential("alpha", 1), pm.Normal("b", 0, 1, shape=3)
    time = pm.Weibull.dist(alpha=alpha, beta=pt.exp(X @ b))
    pm.Censored("y", time, lower=None, upper=3.0, observed=np.minimum(POSITIVE, 3.0))


@model
def exponential_survival():
    rate = pm.Gamma("rate", 1, 1, shape=5)[GROUPS]
    seen = BINARY.astype(bool)
    pm.Potential("seen", (pt.log(rate) - rate * POSITIVE)[seen].sum())
    pm.Potential("left", -(rate * POSITIVE)[~seen].sum())


@model
def truncated_regression():
    b = pm.Normal("b", 0, 1, shape=3)
    pm.TruncatedNormal("y", X @ b, pm.HalfNormal("s", 2), lower=-6.0, upper=6.0, observed=Y)


@model
def censored_regression():
    b = pm.Normal("b", 0, 1, shape=3)
    latent = pm.Normal.dist(X @ b, pm.HalfNormal("s", 2))
    pm.Censored("y", latent, lower=-1.0, upper=1.0, observed=np.clip(Y, -1, 1))


@model
def directions():
    mu, kappa = pm.VonMises("mu", 0, np.array(1.0)), pm.Gamma("kappa", 2, 1)
    pm.VonMises("y", mu, kappa, observed=np.arctan2(X[:, 0], X[:, 1]))


@model
def gaussian_copula():
    rho = pm.Uniform("rho", -1, 1)
    a, b = pm.HalfNormal("a", 1), pm.HalfNormal("b", 1)
    u = pt.stack([1 - pt.exp(-a * POSITIVE), 1 - pt.exp(-b * POSITIVE[::-1])], axis=-1)
    z = pm.math.probit(pt.clip(u, 1e-9, 1 - 1e-9))
    cov = pt.stack([pt.stack([1.0, rho]), pt.stack([rho, 1.0])])
    pm.Potential("pair", pm.logp(pm.MvNormal.dist(np.zeros(2), cov=cov), z).sum())
    pm.Potential("own", pt.log(a) - a * POSITIVE.sum() + pt.log(b) - b * POSITIVE.sum())


@model
def neighbours():
    near = (np.abs(np.subtract.outer(np.arange(6), np.arange(6))) == 1).astype(float)
    alpha, tau = pm.Beta("alpha", 2, 2), pm.Gamma("tau", 1, 1)
    phi = pm.CAR("phi", mu=np.zeros(6), W=near, alpha=alpha, tau=tau)
    pm.Poisson("y", pt.exp(phi), observed=COUNTS[:6])


@model
def intrinsic_neighbours():
    near = (np.abs(np.subtract.outer(np.arange(6), np.arange(6))) == 1).astype(float)
    phi = pm.ICAR("phi", W=near)
    pm.Poisson("y", pt.exp(pm.Normal("a", 0, 1) + phi), observed=COUNTS[:6])


@model
def instruments():
    """A causal model with an instrument: two equations whose errors are correlated."""
    factor, _, _ = pm.LKJCholeskyCov("factor", n=2, eta=2.0, sd_dist=pm.HalfNormal.dist(1.0))
    first, effect = pm.Normal("first", 0, 1), pm.Normal("effect", 0, 1)
    means = pt.stack([first * X[:, 1], effect * X[:, 0]], axis=1)
    pm.MvNormal("y", means, chol=factor, observed=np.stack([X[:, 0], Y], axis=1))


@model
def item_response():
    ability, hard = pm.Normal("ability", 0, 1, shape=6), pm.Normal("hard", 0, 1, shape=5)
    slope = pm.LogNormal("slope", 0, 0.5, shape=5)
    p = pm.math.sigmoid(slope * (ability[:, None] - hard))
    pm.Bernoulli("y", p, observed=BINARY.reshape(6, 5))


@model
def paired_comparison():
    skill = pm.ZeroSumNormal("skill", 1.0, shape=5)
    pm.Bernoulli("y", logit_p=skill[GROUPS] - skill[np.roll(GROUPS, 1)], observed=BINARY)


@model
def factor_analysis():
    loadings = pm.Normal("loadings", 0, 1, shape=(3, 2))
    scores = pm.Normal("scores", 0, 1, shape=(N, 2))
    pm.Normal("y", pt.dot(scores, loadings.T), pm.HalfNormal("s", 1, shape=3), observed=X)


@model
def neural_network():
    first = pm.Normal("first", 0, 1, shape=(3, 4))
    second = pm.Normal("second", 0, 1, shape=4)
    pm.Bernoulli("y", p=pm.math.sigmoid(pt.tanh(X @ first) @ second), observed=BINARY)


@model
def dirichlet_counts():
    alpha = pm.Exponential("alpha", 1.0, shape=3)
    pm.DirichletMultinomial("y", n=10, a=alpha, observed=[[3, 3, 4], [1, 2, 7], [0, 5, 5]])


@model
def logistic_growth():
    """The equation of logistic growth, by Euler's steps."""
    r, k = pm.LogNormal("r", 0, 0.5), pm.LogNormal("k", 1, 0.5)
    path = pytensor.scan(
        lambda x, r, k: x + 0.1 * r * x * (1 - x / k),
        outputs_info=pt.as_tensor(np.array(0.1)),
        non_sequences=[r, k],
        n_steps=N,
        return_updates=False,
    )
    pm.LogNormal("y", pt.log(path), pm.HalfNormal("s", 1), observed=POSITIVE)


@model
def predator_and_prey():
    """The equations of Lotka and Volterra, by Heun's steps of a vector."""
    rates = pm.LogNormal("rates", [-0.6, -3.6, -0.2, -3.7], 0.2, shape=4)

    def slope(z, p):
        return pt.stack([p[0] * z[0] - p[1] * z[0] * z[1], -p[2] * z[1] + p[3] * z[0] * z[1]])

    def step(z, p):
        guess = z + 0.1 * slope(z, p)
        return z + 0.05 * (slope(z, p) + slope(guess, p))

    path = pytensor.scan(
        step,
        outputs_info=pt.as_tensor([33.0, 6.0]),
        non_sequences=rates,
        n_steps=N,
        return_updates=False,
    )
    pm.LogNormal("y", pt.log(path), 0.3, observed=np.exp(3 + 0.3 * X[:, :2]))


@model
def wiener_and_skew():
    pm.SkewNormal("a", mu=0, sigma=1, alpha=pm.Normal("skew", 0, 1), observed=Y)
    pm.ExGaussian("b", mu=0, sigma=1, nu=pm.Exponential("nu", 1), observed=POSITIVE)
    pm.Wald("c", mu=pm.Gamma("m", 2, 1), lam=1.0, observed=POSITIVE)
    pm.Kumaraswamy("d", pm.Gamma("ka", 2, 1), 2.0, observed=POSITIVE / (1 + POSITIVE))


@model
def moyal_and_gumbel():
    pm.Moyal("a", mu=pm.Normal("m", 0, 1), sigma=pm.HalfNormal("s", 1), observed=Y)
    pm.Gumbel("b", mu=0.0, beta=pm.HalfNormal("t", 1), observed=Y)
    pm.Logistic("c", mu=0.0, s=pm.HalfNormal("u", 1), observed=Y)
    pm.Triangular("d", lower=-9.0, upper=9.0, c=pm.Uniform("mode", -8, 8), observed=Y)
    pm.Rice("e", nu=pm.HalfNormal("nu", 1), sigma=1.0, observed=POSITIVE)


@model
def named_dimensions():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the module says that it is experimental
        from pymc import dims
    coords = {"row": range(N), "group": range(5), "column": range(3)}
    pm.modelcontext(None).add_coords(coords)
    x = dims.Data("x", X[:, :3], dims=("row", "column"))
    group = dims.Data("group_of", GROUPS, dims="row")
    slopes = dims.Normal("slopes", 0, 1, dims=("group", "column"))
    level = dims.ZeroSumNormal("level", 1, core_dims="group", dims="group")
    mean = level.isel(group=group) + (slopes.isel(group=group) * x).sum("column")
    dims.Normal("y", mean, dims.HalfNormal("s", 1), observed=dims.as_xtensor(Y, dims=("row",)))
