"""Random numbers: draws that take the state of a generator and return the next one.

Numbers are those that NumPy draws from the same state. May import ``tensor`` and what lies below.
Start reading at :mod:`frazil.random.draw`.
"""

from frazil.graph.namespace import publish as _publish
from frazil.random.choices import choice as choice
from frazil.random.choices import permutation as permutation
from frazil.random.choices import permuted as permuted
from frazil.random.choices import shuffle as shuffle
from frazil.random.continuous import beta as beta
from frazil.random.continuous import chisquare as chisquare
from frazil.random.continuous import exponential as exponential
from frazil.random.continuous import f as f
from frazil.random.continuous import gamma as gamma
from frazil.random.continuous import gumbel as gumbel
from frazil.random.continuous import laplace as laplace
from frazil.random.continuous import logistic as logistic
from frazil.random.continuous import lognormal as lognormal
from frazil.random.continuous import noncentral_chisquare as noncentral_chisquare
from frazil.random.continuous import noncentral_f as noncentral_f
from frazil.random.continuous import normal as normal
from frazil.random.continuous import pareto as pareto
from frazil.random.continuous import power as power
from frazil.random.continuous import rayleigh as rayleigh
from frazil.random.continuous import standard_t as standard_t
from frazil.random.continuous import triangular as triangular
from frazil.random.continuous import uniform as uniform
from frazil.random.continuous import vonmises as vonmises
from frazil.random.continuous import wald as wald
from frazil.random.continuous import weibull as weibull
from frazil.random.derived import bernoulli as bernoulli
from frazil.random.derived import betabinom as betabinom
from frazil.random.derived import categorical as categorical
from frazil.random.derived import cauchy as cauchy
from frazil.random.derived import gengamma as gengamma
from frazil.random.derived import halfcauchy as halfcauchy
from frazil.random.derived import halfnormal as halfnormal
from frazil.random.derived import invgamma as invgamma
from frazil.random.derived import nbinom as nbinom
from frazil.random.derived import t as t
from frazil.random.derived import truncexpon as truncexpon
from frazil.random.discrete import binomial as binomial
from frazil.random.discrete import geometric as geometric
from frazil.random.discrete import hypergeometric as hypergeometric
from frazil.random.discrete import logseries as logseries
from frazil.random.discrete import negative_binomial as negative_binomial
from frazil.random.discrete import poisson as poisson
from frazil.random.discrete import zipf as zipf
from frazil.random.integers import integers as integers
from frazil.random.standard import random as random
from frazil.random.standard import standard_cauchy as standard_cauchy
from frazil.random.standard import standard_exponential as standard_exponential
from frazil.random.standard import standard_gamma as standard_gamma
from frazil.random.standard import standard_normal as standard_normal
from frazil.random.states import generator_of as generator_of
from frazil.random.states import state_of as state_of
from frazil.random.streams import RandomStream as RandomStream
from frazil.random.streams import Stream as Stream
from frazil.random.streams import add_methods as _add_methods
from frazil.random.streams import default_rng as default_rng
from frazil.random.streams import shared_rng as shared_rng
from frazil.random.vectors import dirichlet as dirichlet
from frazil.random.vectors import multinomial as multinomial
from frazil.random.vectors import multivariate_hypergeometric as multivariate_hypergeometric
from frazil.random.vectors import multivariate_normal as multivariate_normal

_DRAWING = (
    choice,
    permutation,
    permuted,
    shuffle,
    beta,
    chisquare,
    exponential,
    f,
    gamma,
    gumbel,
    laplace,
    logistic,
    lognormal,
    noncentral_chisquare,
    noncentral_f,
    normal,
    pareto,
    power,
    rayleigh,
    standard_t,
    triangular,
    uniform,
    vonmises,
    wald,
    weibull,
    bernoulli,
    betabinom,
    categorical,
    cauchy,
    gengamma,
    halfcauchy,
    halfnormal,
    invgamma,
    nbinom,
    t,
    truncexpon,
    binomial,
    geometric,
    hypergeometric,
    logseries,
    negative_binomial,
    poisson,
    zipf,
    integers,
    random,
    standard_cauchy,
    standard_exponential,
    standard_gamma,
    standard_normal,
    dirichlet,
    multinomial,
    multivariate_hypergeometric,
    multivariate_normal,
)

_add_methods({function.__name__: function for function in _DRAWING})

_publish(globals())
