"""What compiled Python functions cost: a call, the first call, and a trace.

A call has four arrays as arguments and ten guarded captures, and is measured beside the function
that it runs. The first call is that of the value and gradient of the eight schools model, in
processes of their own with empty caches, compilers' processes included. A trace is measured beside
the plain run of the function, and apart from compiling and running what it gives. All take turns,
in processor time. If JAX is installed, it is measured in the same run, with one thread as frazil
is.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import numpy as np

import frazil as fz
from frazil.jit.entry import Entry

entry_module = sys.modules["frazil.jit.entry"]
C0, C1, C2, C3, C4 = 1.0, 2.0, 3.0, 4.0, 5.0
WIDTHS = {"a": 1.0, "b": 2.0}
ROUNDS, CALLS = 200, 200


def helper(x, y):
    return x * C3 + y * C4


def model(a, b, c, d):
    return np.exp(a * C0) + helper(b, c) * C1 + d * C2 * WIDTHS["a"]


def processor_time(fn, args):
    start = time.thread_time_ns()
    for _ in range(CALLS):
        fn(*args)
    return (time.thread_time_ns() - start) / CALLS


def measure(fns, args):
    """The least processor time of a call of each function, in nanoseconds; they take turns."""
    for fn in fns:
        fn(*args)
    rounds = [[processor_time(fn, args) for fn in fns] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def used():
    """The processor time of this process and of those that it began, in seconds."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(own.ru_utime + own.ru_stime for own in both)


def examples():
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
    import eight_schools

    params = {"mu": np.float64(4.4), "log_tau": np.float64(1.2), "z": np.linspace(-1, 1, 8)}
    return eight_schools, params


def first_call(peer):
    """Print the processor time of a first call, after one of another function, in milliseconds."""
    module, params = examples()
    if peer == "jax":
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        module.np = jnp
        compiled = lambda fn: jax.jit(jax.value_and_grad(fn))  # noqa: E731
        compiled(lambda x: jnp.sum(x * x))(np.ones(3))[0].block_until_ready()
    else:
        compiled = lambda fn: fz.jit(fz.value_and_grad(fn))  # noqa: E731
        compiled(lambda x: np.sum(x * x))(np.ones(3))
    fn = compiled(module.log_density)
    start = used()
    np.asarray(fn(params)[0])
    print((used() - start) * 1000)


def first_calls(peers, rounds=5):
    """The median processor time of a first call of each peer, in milliseconds."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    found = {peer: [] for peer in peers}
    for _ in range(rounds):
        for peer in peers:
            with tempfile.TemporaryDirectory() as cache:
                own = {"FRAZIL_CACHE_DIR": cache, "XLA_FLAGS": flags, "OMP_NUM_THREADS": "1"}
                done = subprocess.run(
                    [sys.executable, __file__, "--first", peer],
                    env={**os.environ, **own},
                    capture_output=True,
                    text=True,
                    check=True,
                )
            found[peer].append(float(done.stdout.split()[-1]))
    return {peer: statistics.median(times) for peer, times in found.items()}


def chain(x):
    h = x
    for i in range(300):
        h = h + 0.01 * np.sin(1.0001**i * h)
    return h.sum()


def traced_models():
    """Functions to trace, each with its argument."""
    module, params = examples()
    yield "eight schools", module.log_density, params
    for length in (10, 1000, 10_000):
        yield f"300 sines of {length}", chain, np.ones(length)


def traces():
    """For functions the least times of a plain run and of traces, in us, and operations of them.

    What a trace costs is a first call without making a function of the graph and running that. The
    first trace reads the code of the function; the second one, here after ``cache_clear``, is of
    code that was read.
    """
    apart = []

    def timed(owner, name):
        whole = getattr(owner, name)

        def call(*args, **kwargs):
            start = time.thread_time_ns()
            try:
                return whole(*args, **kwargs)
            finally:
                apart.append((time.thread_time_ns() - start) / 1000)

        setattr(owner, name, call)

    timed(entry_module, "function")
    timed(Entry, "__call__")
    for name, fn, argument in traced_models():
        again = fz.jit(lambda x, fn=fn: fn(x), mode="py", max_entries=1)
        operations = len(again.graph(argument).toposort())
        plain, whole, trace, first = [], [], [], []
        for at in range(15):
            new = fz.jit(of_new_code(fn, at), mode="py")
            apart.clear()
            took = timed_once(lambda new=new, x=argument: new(x))
            first.append(took - sum(apart))
            plain.append(timed_once(lambda fn=fn, x=argument: fn(x)))
            again.cache_clear()
            apart.clear()
            whole.append(timed_once(lambda again=again, x=argument: again(x)))
            trace.append(whole[-1] - sum(apart))
        yield name, operations, min(plain), min(first), min(trace), min(whole)


def of_new_code(fn, number):
    """The function, with code that nothing has read before."""
    code = fn.__code__.replace(co_firstlineno=1000 + number)
    return types.FunctionType(code, fn.__globals__)


def traces_of_jax():
    """The least time of a trace by JAX of the same functions, in microseconds."""
    import jax
    import jax.numpy as jnp

    module = sys.modules["eight_schools"]
    known = np, module.np
    found = []
    for name, fn, argument in traced_models():
        globals()["np"], module.np = jnp, jnp
        times = [
            timed_once(lambda fn=fn, x=argument: jax.make_jaxpr(lambda x: fn(x))(x))
            for _ in range(8)
        ]
        globals()["np"], module.np = known
        found.append((name, min(times)))
    return found


def timed_once(fn):
    start = time.thread_time_ns()
    fn()
    return (time.thread_time_ns() - start) / 1000


def main():
    args = [np.ones(4) for _ in range(4)]
    compiled = fz.jit(model)
    compiled(*args)
    (entry,) = compiled._entries.popitem()[1]
    bare = entry.compiled
    fns, names = [bare, compiled], ["the compiled function", "fz.jit"]
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp

        numpy, globals()["np"] = np, jnp
        traced = jax.jit(model)
        traced(*args)
        globals()["np"] = numpy
        fns.append(lambda *args: traced(*args).block_until_ready())
        names.append("jax.jit")
    except ImportError:
        pass
    times = measure(fns, args)
    for name, own in zip(names, times, strict=True):
        print(f"{name:24} {own / 1000:6.2f} us")
    print(f"{len(entry.told)} checks; overhead of fz.jit {(times[1] - times[0]) / 1000:.2f} us")
    peers = ["frazil", "jax"] if len(fns) > 2 else ["frazil"]
    for peer, took in first_calls(peers).items():
        print(f"first call, {peer:12} {took:6.1f} ms")
    for name, operations, plain, first, trace, whole in traces():
        print(
            f"{name:20} plain {plain:7.0f} us, first trace {first:7.0f} us, "
            f"trace {trace:7.0f} us, {trace / plain:5.1f} times, "
            f"{trace / operations:5.1f} us an operation; first call by py {whole:7.0f} us"
        )
    if len(fns) > 2:
        for name, took in traces_of_jax():
            print(f"{name:20} trace by jax {took:7.0f} us")


if __name__ == "__main__":
    if "--first" in sys.argv:
        first_call(sys.argv[-1])
    else:
        main()
