"""from_torch: a PyTorch module and a loss, in double precision, with gradients by torch.func."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._optional import require
from ...checks import given, whole
from ...data.public import Public
from ...errors import InvalidArgument, WrongType
from ..priors import Normal, Prior
from .code import Code, Function
from .model import Handle, OwnModel
from .parameters import Parameter, Site, sites_of
from .records import TARGET, Layout, default_layout, layout_of

Floats = npt.NDArray[np.float64]
PURPOSE = "a model in PyTorch"


class TorchCode(Code):
    """A module whose parameters are theta; minus its loss is the log-likelihood of a record."""

    __slots__ = ("_layout", "_loss", "_made", "_module", "_sites")

    def __init__(
        self, module: Any, loss: Any, sites: tuple[Site, ...], layout: Layout | None, most: int | None
    ) -> None:
        super().__init__("PyTorch", False, most)
        self._module, self._loss, self._sites, self._layout = module, loss, sites, layout
        self._made: dict[tuple[int, bool], tuple[Function, Function]] = {}

    def functions(self, public: Public) -> tuple[Function, Function]:
        """Return log-likelihood and gradient for tables of this shape."""
        key = (public.width, public.has_target)
        if key not in self._made:
            self._made[key] = self._mapped(default_layout(public) if self._layout is None else self._layout)
        return self._made[key]

    def _mapped(self, layout: Layout) -> tuple[Function, Function]:
        torch = require("torch", "torch", PURPOSE)
        module, loss, sites = self._module, self._loss, self._sites

        def loglik(theta: Any, x: Any, y: Any) -> Any:
            record = layout.of(x, y, lambda value: value.long())
            values, start = {}, 0
            for site in sites:
                values[site.name] = theta[start : start + site.size].reshape(site.shape)
                start += site.size
            inputs = [value.unsqueeze(0) for name, value in record.items() if name != TARGET]
            output = torch.func.functional_call(module, values, tuple(inputs))
            target = record.get(TARGET)
            made = loss(output) if target is None else loss(output, target.unsqueeze(0))
            if made.numel() != 1:
                raise InvalidArgument(f"loss must return one number per record, but its shape is {tuple(made.shape)}")
            return -made.reshape(())

        return _called(torch, loglik), _called(torch, torch.func.grad(loglik))


def _called(torch: Any, of_one: Any) -> Function:
    with_target = torch.func.vmap(of_one, in_dims=(None, 0, 0))
    without = torch.func.vmap(lambda theta, x: of_one(theta, x, None), in_dims=(None, 0))

    def call(theta: Floats, x: Floats, y: Floats | None, out: Floats) -> None:
        # Copies: torch warns of arrays that may not be written to.
        given = [torch.tensor(value) for value in (theta, x, y) if value is not None]
        made = with_target(*given) if y is not None else without(*given)
        out[...] = made.detach().numpy()

    return call


def from_torch(
    module: Any,
    loss: Callable[..., Any],
    *,
    prior: Prior | Mapping[str, Prior] | None = None,
    record: Mapping[str, Any] | None = None,
    microbatch: int | None = None,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    information: float | None = None,
    simulate: Callable[..., Any] | None = None,
) -> OwnModel:
    """Return a model whose log-likelihood is minus the loss of a PyTorch module, with the module's parameters.

    Parameters
    ----------
    module
        A module without random numbers (in ``eval`` mode). It is copied, and computes in double precision.
    loss
        ``loss(output, y)``: minus the log-likelihood of one record, which both have on their first axis.
    prior
        One prior for all parameters, or one by name; ``Normal(1)`` by default.
    record
        An example of a record: ``dict(x=np.zeros(10), y=0)``, where 0 says that the loss wants whole numbers. See
        ``from_numpy``. All fields but ``y`` are passed to the module.
    microbatch
        Records of a call; chosen from the batch size by default.
    lipschitz, smoothness, information, simulate
        See ``OwnModel`` and ``from_numpy``.

    Examples
    --------
    >>> import numpy as np, torch, pydpmc as dp
    >>> net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    >>> model = dp.models.from_torch(net, torch.nn.functional.cross_entropy, record=dict(x=np.zeros(4), y=0))
    >>> [site.name for site in model.sites]
    ['0.weight', '0.bias', '2.weight', '2.bias']
    """
    torch = require("torch", "torch", PURPOSE)
    if not isinstance(module, torch.nn.Module) or not callable(loss):
        raise WrongType(f"module must be a torch.nn.Module and loss a function, not {given(module)} and {given(loss)}")
    parameters = {name: Parameter(tuple(value.shape)) for name, value in module.named_parameters()}
    if not parameters:
        raise InvalidArgument("module has no parameters")
    sites, layout = sites_of(parameters, Normal() if prior is None else prior), layout_of(record)
    most = None if microbatch is None else whole(microbatch, "microbatch", most=65536)
    own = copy.deepcopy(module).double()
    return OwnModel(
        name=f"from_torch({type(module).__name__})",
        code=TorchCode(own, loss, sites, layout, most),
        sites=sites,
        layout=layout,
        stated_lipschitz=lipschitz,
        stated_smoothness=smoothness,
        stated_information=information,
        simulator=None if simulate is None else Handle(simulate),
    )
