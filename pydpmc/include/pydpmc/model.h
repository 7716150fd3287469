/* The C interface for likelihoods of your own, version 1 (pydpmc.get_include() is where this file is installed).
 *
 * pydpmc samples, clips, rounds, sums and adds noise; a function of this type only maps theta and records to
 * numbers. It must be a function of its arguments: no state, no output, no random numbers. It is called from several
 * threads at once, without Python's interpreter lock.
 */
#ifndef PYDPMC_MODEL_H
#define PYDPMC_MODEL_H

#include <stdint.h>

#define PYDPMC_MODEL_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* Log-likelihoods, or their gradients, of `count` records.
 *
 * theta    dim numbers
 * x        features: record i has x[i * columns] to x[i * columns + columns - 1]
 * y        targets, one per record; NULL if records have none
 * out      log-likelihoods: out[i]. Gradients in theta: out[i * dim] to out[i * dim + dim - 1]
 * user     what was given with the function
 *
 * What is not finite counts as zero. Any value but 0 that is returned says that nothing was computed; the records of
 * the block are then tried one by one, and those that fail again count as zero. */
typedef int (*pydpmc_function)(int64_t count, int64_t columns, int64_t dim, const double* theta, const double* x,
                               const double* y, double* out, void* user);

/* The log density of a public prior at theta, up to a constant; it writes the gradient to `slopes` unless that is
 * NULL. */
typedef double (*pydpmc_prior)(int64_t dim, const double* theta, double* slopes, void* user);

#ifdef __cplusplus
}
#endif

#endif
