# The C interface of pydpmc/model.h: from pydpmc.models.own.abi cimport pydpmc_function
from libc.stdint cimport int64_t

cdef extern from "pydpmc/model.h":
    int PYDPMC_MODEL_VERSION
    ctypedef int (*pydpmc_function)(int64_t count, int64_t columns, int64_t dim, const double* theta, const double* x,
                                    const double* y, double* out, void* user) noexcept nogil
    ctypedef double (*pydpmc_prior)(int64_t dim, const double* theta, double* slopes, void* user) noexcept nogil
