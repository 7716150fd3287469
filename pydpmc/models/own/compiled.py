"""from_pointer: compiled functions of the C interface pydpmc/model.h."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import whole
from ...data.public import Public
from ...errors import WrongType
from ..priors import Normal, Prior
from .addresses import Address, address_of
from .code import Code, Function
from .model import Handle, OwnModel
from .parameters import Parameter, sites_of

Floats = npt.NDArray[np.float64]
PRIOR_ARGUMENTS = 4
_Signature = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


class CompiledCode(Code):
    """Addresses that the core calls by itself, without the interpreter lock."""

    __slots__ = ("_grad", "_log_lik")

    def __init__(self, log_lik: Address, grad: Address | None, microbatch: int) -> None:
        super().__init__("compiled", microbatch == 1, microbatch)
        self._log_lik, self._grad = log_lik, grad

    @property
    def has_gradient(self) -> bool:
        """Whether the address of a gradient was given."""
        return self._grad is not None

    @property
    def calls_python(self) -> bool:
        """False: the core calls addresses."""
        return False

    def functions(self, public: Public) -> tuple[Function, Function | None]:
        """Return the functions as Python calls them, for the trial on made-up records."""
        return _python(self._log_lik), None if self._grad is None else _python(self._grad)

    def core(self, public: Public, block: int) -> Any:
        """Return the addresses as the core calls them."""
        grad = self._grad or Address(0, 0, None)
        return _core.OwnModel.of_addresses(
            loglik=self._log_lik.function,
            gradient=grad.function,
            loglik_user=self._log_lik.user,
            gradient_user=grad.user,
            block=block,
            keep=(self._log_lik.keep, grad.keep),
        )


def _python(address: Address) -> Function:
    function = _Signature(address.function)

    def call(theta: Floats, x: Floats, y: Floats | None, out: Floats) -> None:
        targets = None if y is None else y.ctypes.data
        failed = function(
            len(x), x.shape[1], len(theta), theta.ctypes.data, x.ctypes.data, targets, out.ctypes.data, address.user
        )
        if failed:
            out[...] = np.nan

    return call


def get_include() -> str:
    """Return the folder of the header ``pydpmc/model.h``, the C interface for models of your own.

    Examples
    --------
    >>> import pathlib, pydpmc as dp
    >>> (pathlib.Path(dp.get_include()) / "pydpmc" / "model.h").is_file()
    True
    """
    return str(Path(__file__).parents[2] / "include")


def from_pointer(
    log_lik: Any,
    grad: Any = None,
    *,
    parameters: Mapping[str, Parameter | int | tuple[int, ...]],
    prior: Any = None,
    user_data: Any = None,
    microbatch: int = 1,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    information: float | None = None,
    simulate: Callable[..., Any] | None = None,
) -> OwnModel:
    """Return a model whose log-likelihood is a compiled function of the type ``pydpmc_function`` (pydpmc/model.h).

    It runs inside the core's parallel region, without Python's interpreter lock. ``pydpmc.get_include()`` is where the
    header is.

    Parameters
    ----------
    log_lik
        The function: an address, a ctypes function, a numba ``cfunc``, a ``scipy.LowLevelCallable``, or a capsule of
        Cython (``module.__pyx_capi__["name"]``).
    grad
        The gradient, a function of the same type. Without it only Barker can run the model.
    parameters
        Shape of each parameter by name, or a ``Parameter``. The functions get theta, all of them flattened in this
        order; a positive one is there by its logarithm.
    prior
        One prior for all, one by name, or a compiled function of the type ``pydpmc_prior``: the log density of the
        parameters at theta (the Jacobian of positive ones is added to it).
    user_data
        Passed to the functions as their last argument: an address, a ctypes pointer or a numpy array, which is kept.
    microbatch
        Records of a call. More than one needs an assumption: that the function does not mix them.
    lipschitz, smoothness, information, simulate
        See ``OwnModel`` and ``from_numpy``.

    Examples
    --------
    >>> import ctypes, pydpmc as dp
    >>> # lib = ctypes.CDLL("./model.so"); dp.models.from_pointer(lib.log_lik, lib.grad, parameters={"beta": 10})
    >>> dp.models.from_pointer("log_lik", parameters={"beta": 10})
    Traceback (most recent call last):
    ...
    pydpmc.errors.WrongType: log_lik must be a compiled function: an address, a ctypes function, a numba cfunc, ...
    """
    prior = Normal() if prior is None else prior
    plain = isinstance(prior, Prior | Mapping)
    sites = sites_of(parameters, prior if plain else (lambda: None))
    if not plain:
        where = address_of(prior, user_data, "prior", PRIOR_ARGUMENTS)
        prior = Handle(_core.OwnPrior.of_address(where.function, where.user, where.keep))
    if isinstance(grad, Mapping):
        raise WrongType("grad must be a compiled function")
    return OwnModel(
        name=f"from_pointer({getattr(log_lik, '__name__', 'log_lik')})",
        code=CompiledCode(
            address_of(log_lik, user_data, "log_lik"),
            None if grad is None else address_of(grad, user_data, "grad"),
            whole(microbatch, "microbatch", most=65536),
        ),
        sites=sites,
        public_prior=None if plain else prior,
        stated_lipschitz=lipschitz,
        stated_smoothness=smoothness,
        stated_information=information,
        simulator=None if simulate is None else Handle(simulate),
    )
