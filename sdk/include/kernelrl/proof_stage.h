/* A stage of krl_evaluate_options besides those of abi.h, for backends whose evaluations are compared with each other. */
#ifndef KERNELRL_PROOF_STAGE_H
#define KERNELRL_PROOF_STAGE_H

/* Pushes the value code_digest, which is equal for candidates that do the same. With KRL_STAGE_CHECK the runs of the
 * evaluation are many more than usual, the same for all candidates, and if they are right the value output_digest is
 * pushed, which is equal for candidates that give equal bits in all of them. Digests are whole numbers. */
#define KRL_STAGE_PROOF 64u

/* No stage: the candidate is a source, KRL_PTX_MARK, and the PTX that is executed in the place of what the source would
 * compile to; directives and names of kernels are the source's. That PTX is the compile_log of an evaluation of the
 * source by the stages KRL_STAGE_COMPILE and KRL_STAGE_PROOF. */
#define KRL_CANDIDATE_HAS_PTX 128u
#define KRL_PTX_MARK "\n// ==== PTX\n"

#endif
