/* kernelrl/abi.h, version 1.0: everything that crosses the boundary between kernelrl and a plugin.
 *
 * A plugin is a shared object `NAME.krl.so` with one export, `krl_plugin_v1`. It offers components of four kinds: policies,
 * backends, rewards and datasets. C++ authors use <kernelrl/sdk.hpp>, a thin layer on top of this header.
 *
 * A plugin that was built for any 1.x works with every other 1.x: what one side does not know, it does not use.
 *
 * The rules
 *   Growth    Every struct starts with its size in bytes (`struct_size`) and only grows at its end; a reader looks at the
 *             size before it reads a field that version 1.0 did not have (<kernelrl/growth.hpp>), in which 0 means that it is
 *             not set. The value types krl_str, krl_i32s, krl_f32s and krl_f64s never change. Arrays of structs are arrays of
 *             pointers, so that elements may grow too. Members named `reserved`, and bits without a name, are 0.
 *             Fields, functions, kinds of components, flags, other numbers and keys of JSON are added, never changed or removed.
 *             What the other side has to act upon is sent only to one that knows it: a plugin looks at krl_host.abi_minor, the
 *             host at the flags of krl_component, krl_policy_info and krl_backend_info. Where it is sent anyway, it may be
 *             refused. Of a plugin for a later version, components of an unknown kind are left out, and unknown flags of
 *             krl_component and krl_field are ignored, but for those from KRL_MUST_KNOW on.
 *   Memory    Inputs are borrowed for the call. Outputs are pushed into a sink, which copies at once. Neither side frees the
 *             other's memory. A returned krl_str lives as long as the object that returned it.
 *   Text      UTF-8, not zero-terminated. {NULL, 0} is the empty text.
 *   Errors    `return context->fail(context, KRL_…, why)`. Nothing is thrown across the boundary.
 *   Threads   [main]  on the loading thread, before any other call
 *             [call]  on any thread; one call at a time for an instance, unless its component is KRL_THREAD_SAFE
 *             [sink]  from inside the call that received the sink, on any thread of the plugin, one at a time
 *             [any]   on any thread at any time
 *   Time      Calls block; the host owns concurrency. `cancelled` stays true once it is; poll it between steps.
 */
/* clang-format off */
/* NOLINTBEGIN(modernize-use-using): this is C */
#ifndef KERNELRL_ABI_H_
#define KERNELRL_ABI_H_

#include <stddef.h>
#include <stdint.h>

#define KRL_ABI_MINOR 0u

/* A component or an option with a flag of this value or above is refused by a host that does not know the flag. */
#define KRL_MUST_KNOW 0x1000000u

#if defined(__GNUC__)
#define KRL_EXPORT __attribute__((visibility("default")))
#else
#define KRL_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values ------------------------------------------------------------------------------------------------------- */

/* A text: UTF-8, not zero-terminated. {NULL, 0} is the empty text. */
typedef struct krl_str {
  const char* data;
  size_t size;
} krl_str;
/* An array of 32-bit integers, such as tokens. */
typedef struct krl_i32s {
  const int32_t* data;
  size_t size;
} krl_i32s;
/* An array of single-precision numbers, such as log-probabilities. */
typedef struct krl_f32s {
  const float* data;
  size_t size;
} krl_f32s;
/* An array of double-precision numbers, such as measured times. */
typedef struct krl_f64s {
  const double* data;
  size_t size;
} krl_f64s;

/* gRPC's numbers. */
typedef int32_t krl_status;
#define KRL_OK 0
#define KRL_CANCELLED 1
#define KRL_INVALID_ARGUMENT 3
#define KRL_DEADLINE_EXCEEDED 4
#define KRL_NOT_FOUND 5
#define KRL_RESOURCE_EXHAUSTED 8
#define KRL_FAILED_PRECONDITION 9
#define KRL_UNIMPLEMENTED 12
#define KRL_INTERNAL 13
#define KRL_UNAVAILABLE 14 /* infrastructure: the turn is dropped and counted; never scored */

/* ---- what the host provides to every call -------------------------------------------------------------------------- */

#define KRL_LOG_TRACE 0
#define KRL_LOG_DEBUG 1
#define KRL_LOG_INFO 2
#define KRL_LOG_WARNING 3
#define KRL_LOG_ERROR 4

typedef struct krl_call { /* what the host provides to a call; dies when the call returns */
  uint32_t struct_size, flags;
  void* ctx;
  int64_t deadline_ns; /* CLOCK_MONOTONIC; 0 = none. A call that is not done by then ends with KRL_DEADLINE_EXCEEDED */

  /* [any] 1 once the call should end soon with KRL_CANCELLED. */
  int32_t (*cancelled)(const struct krl_call*);
  /* [any] `done` in 0..1; `what` in a few words. */
  void (*progress)(const struct krl_call*, double done, krl_str what);
  /* [any] one line, no newline; `level` is KRL_LOG_*. */
  void (*log)(const struct krl_call*, int32_t level, krl_str message);
  /* [any] Copies `why` and returns `status`, so that a failing function ends in one statement. */
  krl_status (*fail)(const struct krl_call*, krl_status status, krl_str why);
  /* [any] Reports a figure of this call. What each call may report, such as "grad_norm", is listed below. Besides, a policy may report
   * figures of its own of a learning step, named "vendor.name"; the host writes their means over the steps as "actor/vendor.name", and
   * the maximum where the name ends in "_max". */
  void (*metric)(const struct krl_call*, krl_str name, double value);
} krl_call;

typedef struct krl_host { /* the process that loads plugins; lives as long as the process */
  uint32_t struct_size, abi_minor;
  void* ctx;
  krl_str name, version;
} krl_host;

/* ---- options ------------------------------------------------------------------------------------------------------ */

#define KRL_BOOL 1u
#define KRL_INT 2u
#define KRL_FLOAT 3u
#define KRL_STRING 4u
#define KRL_PATH 5u  /* a string; the host makes it absolute against the folder of the file that set it */
#define KRL_ARRAY 6u /* read through json() */
#define KRL_TABLE 7u /* read through json() */

#define KRL_REQUIRED 1u
#define KRL_SECRET 2u /* the value names an environment variable, which the plugin reads; it is never logged */

/* One option of a component, static: the host checks a plan against it without an instance. */
typedef struct krl_field {
  uint32_t struct_size, type, flags, reserved;
  krl_str key;
  krl_str fallback; /* the default as TOML text, "0.5" or "\"fast\""; empty if the key may be absent or is required */
  krl_str range;    /* "0..1", "1.." (at least 1), "a|b|c"; empty if everything of the type is allowed */
  krl_str doc;      /* one sentence */
} krl_field;

typedef struct krl_config { /* the options of an instance; checked, defaults filled in; valid inside create() */
  uint32_t struct_size, flags;
  void* ctx;
  /* [any] Each returns 1 and sets *out if the key is there (or has a default), else 0. */
  int32_t (*get_bool)(const struct krl_config*, krl_str key, int32_t* out);
  int32_t (*get_int)(const struct krl_config*, krl_str key, int64_t* out);
  int32_t (*get_float)(const struct krl_config*, krl_str key, double* out);
  int32_t (*get_string)(const struct krl_config*, krl_str key, krl_str* out);
  krl_str (*json)(const struct krl_config*); /* the component's whole table as a JSON object */
} krl_config;

/* ---- tasks and evaluations (read only) ---------------------------------------------------------------------------- */

/* A task: what a kernel must compute. */
typedef struct krl_task {
  uint32_t struct_size, tier;
  krl_str id, title, prompt;
  krl_str definition_json; /* axes, tensors, reference, naive kernel, cases, …: <kernelrl/task_definition.hpp> */
} krl_task;

#define KRL_CONTRACT_DEVICE 0u /* device code and launch directives; the harness owns the host side */
#define KRL_CONTRACT_HOST 1u   /* a .cu with its own launcher; lower trust */

/* A kernel to be evaluated. */
typedef struct krl_candidate {
  uint32_t struct_size, contract;
  const krl_task* task;
  krl_str source;
} krl_candidate;

/* The stages of an evaluation. 64 and 128 belong to <kernelrl/proof_stage.h>. */
#define KRL_STAGE_COMPILE 1u
#define KRL_STAGE_CHECK 2u
#define KRL_STAGE_TIME 4u
#define KRL_STAGE_COUNTERS 8u
#define KRL_STAGE_HOLDOUT 16u
#define KRL_STAGE_POOL 32u /* all shapes of the task's pool, of which CHECK draws a few; nothing comes from a cache */

/* What an evaluation covers. */
typedef struct krl_evaluate_options {
  uint32_t struct_size;
  uint32_t stages; /* the requested KRL_STAGE_*, run in this order up to the first failure */
  uint64_t seed;   /* all inputs and orders follow from it */
} krl_evaluate_options;

/* The candidate's verdicts. */
#define KRL_VERDICT_OK 0u
#define KRL_VERDICT_FORMAT_ERROR 1u /* given by the host: the answer holds no kernel */
#define KRL_VERDICT_REJECTED 2u     /* by a static check; `why` says which */
#define KRL_VERDICT_COMPILE_ERROR 3u
#define KRL_VERDICT_LAUNCH_ERROR 4u
#define KRL_VERDICT_RUNTIME_FAULT 5u
#define KRL_VERDICT_TIMEOUT 6u
#define KRL_VERDICT_RESOURCE_LIMIT 7u
#define KRL_VERDICT_WRONG_RESULT 8u
#define KRL_VERDICT_NONDETERMINISTIC 9u
#define KRL_VERDICT_FLAGGED 10u /* too good to be true */
/* Set by the host: not a verdict on the candidate. A backend returns KRL_UNAVAILABLE instead of pushing it. */
#define KRL_VERDICT_INFRA_ERROR 11u

/* What a backend measures and a reward needs. A plan that pays for a signal its backend lacks is refused. */
#define KRL_SIGNAL_COMPILE 1u        /* verdict up to compile_error, diagnostics */
#define KRL_SIGNAL_CORRECTNESS 2u    /* cases with their verdicts */
#define KRL_SIGNAL_TIME 4u           /* case speedups, measured or estimated */
#define KRL_SIGNAL_REGISTERS 8u      /* kernel.registers, spill_bytes */
#define KRL_SIGNAL_SHARED_MEMORY 16u /* kernel.shared_bytes */
#define KRL_SIGNAL_OCCUPANCY 32u     /* kernel.occupancy */
#define KRL_SIGNAL_INSTRUCTIONS 64u  /* values "shuffles", "vector_accesses", "barriers", "atomics": executed or compiled, not written */
#define KRL_SIGNAL_MEMORY 128u       /* values "sectors_per_request", "dram_bytes", "bandwidth_fraction" */

#define KRL_SEVERITY_NOTE 0u
#define KRL_SEVERITY_WARNING 1u
#define KRL_SEVERITY_ERROR 2u

/* A message of a compiler or of a static check. */
typedef struct krl_diagnostic {
  uint32_t struct_size, severity;
  uint32_t line, column; /* from 1, in the candidate's source; 0 = unknown */
  krl_str code, text;    /* code: "-Wunused-variable", "#550-D"; may be empty */
} krl_diagnostic;

typedef struct krl_kernel { /* one compiled kernel; -1 = unknown to this backend */
  uint32_t struct_size, flags;
  krl_str name, arch;
  int32_t registers, spill_bytes, stack_bytes, shared_bytes, max_threads, blocks_per_sm;
  double occupancy;          /* theoretical, 0..1; NaN = unknown */
  krl_str occupancy_limiter; /* "registers", "shared memory", "threads", "blocks" */
} krl_kernel;

/* Why a candidate runs on a shape. Only shown shapes are timed; the others never appear in a prompt. */
#define KRL_CASE_SHOWN 0u   /* one of the task's cases */
#define KRL_CASE_HOLDOUT 1u /* one of its hold-outs: measured, without effect on training */
#define KRL_CASE_FRESH 2u   /* drawn from the task's ranges: a failure there fails the candidate */

typedef struct krl_case { /* one shape */
  uint32_t struct_size, verdict;
  krl_str label;                /* "rows=128 cols=1024" */
  uint32_t kind, estimated;     /* KRL_CASE_*; estimated: times come from a model, not a clock */
  double max_abs_error, max_rel_error;
  double speedup, speedup_low, speedup_high; /* over the baseline: median and 95 % interval; NaN = not timed */
  double time_ns, baseline_ns;               /* medians; NaN = not timed */
  krl_f64s samples_ns, baseline_samples_ns;  /* raw, paired; empty where times are estimated */
  krl_str detail;                            /* the first wrong elements, or the fault and its line */
} krl_case;

typedef struct krl_value { /* a counter or a derived figure */
  uint32_t struct_size;
  int32_t case_index; /* -1 = of the whole evaluation */
  krl_str name, unit; /* "dram_bytes", "B" */
  double value;
} krl_value;

/* The result of evaluating one candidate, with all its figures. */
typedef struct krl_evaluation {
  uint32_t struct_size, verdict;
  krl_str why; /* one line: the reason for the verdict; empty if ok */
  krl_str backend, toolchain, device, compile_log;
  const krl_diagnostic* const* diagnostics;
  size_t n_diagnostics;
  const krl_kernel* const* kernels;
  size_t n_kernels;
  const krl_case* const* cases;
  size_t n_cases;
  const krl_value* const* values;
  size_t n_values;
} krl_evaluation;

#define KRL_FORMAT_EXACT 0u     /* <KERNEL> tags around one fenced block */
#define KRL_FORMAT_TOLERATED 1u /* a kernel was found without the exact form */
#define KRL_FORMAT_MISSING 2u
#define KRL_FORMAT_TRUNCATED 3u /* the answer ended inside the kernel */

#define KRL_STOP_END 0u    /* the model ended its answer */
#define KRL_STOP_LENGTH 1u /* max_tokens or the context was reached */
/* Cut off before its end, because weights changed or a server failed. The host treats unknown reasons as this one. */
#define KRL_STOP_ABORTED 2u

typedef struct krl_turn { /* what a reward sees */
  uint32_t struct_size, index; /* 0 = the first turn of its episode */
  const krl_task* task;
  krl_str prompt, answer;
  krl_str thinking, source; /* parts of the answer; empty if not found */
  uint32_t format, stop_reason;
  krl_i32s tokens;
  krl_f32s logprobs;
  const krl_evaluation* evaluation;
  const struct krl_turn* previous; /* NULL at the first turn */
} krl_turn;

/* ---- policies ----------------------------------------------------------------------------------------------------- */

#define KRL_ROLE_SYSTEM 0u
#define KRL_ROLE_USER 1u
#define KRL_ROLE_ASSISTANT 2u

/* A message of the conversation that a policy is asked to continue. */
typedef struct krl_message {
  uint32_t struct_size, role;
  krl_str text;
} krl_message;

/* How answers are sampled. */
typedef struct krl_sampling {
  uint32_t struct_size, max_tokens;
  double temperature, top_p; /* temperature 0 = greedy; top_p 1 = off */
  int32_t top_k;             /* -1 = off */
  uint32_t n_stop;
  const krl_str* stop; /* texts that end an answer, in addition to the model's end token */
} krl_sampling;

/* A conversation to be answered, with the number of answers wanted. */
typedef struct krl_request {
  uint32_t struct_size, n_samples;
  const krl_message* const* messages;
  size_t n_messages;
  const krl_sampling* sampling;
  uint64_t seed; /* sample k draws from the stream (seed, k), whatever shares its batch */
  krl_str session;        /* the same for all requests of an episode, whose prompts begin alike; may be empty */
  krl_i32s prompt_tokens; /* the prompt itself, unless empty: `messages` are then what it was made from */
  /* The answer so far, for a policy that CONTINUES: the sample holds the tokens after these; its text is that of the whole
   * answer, whose tokens max_tokens counts. */
  krl_i32s answer_prefix;
  int64_t deadline_ns; /* CLOCK_MONOTONIC; 0 = none. Fail with KRL_DEADLINE_EXCEEDED if not answered by then: the answer would be lost */
} krl_request;

typedef struct krl_request_source { /* requests that arrive while earlier ones are being answered */
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] The next request, borrowed until the call returns. *out is NULL if there is none yet (`wait` 0) or no more will come
   * (`wait` 1). On KRL_CANCELLED end the call. */
  krl_status (*next)(const struct krl_request_source*, int32_t wait, const krl_request** out);
} krl_request_source;

/* The part of a sample that came from one version of the weights. */
typedef struct krl_version_span {
  uint32_t struct_size;
  uint32_t first_token; /* of `tokens`; the span ends where the next begins */
  uint64_t version;
} krl_version_span;

/* One answer of a policy. */
typedef struct krl_sample {
  uint32_t struct_size, stop_reason;
  uint32_t request, index; /* which request of the call, in its order from 0; which of its samples */
  krl_str text;            /* without the end token */
  krl_i32s prompt_tokens;
  krl_i32s tokens;   /* exactly as sampled, the end token included; empty: this policy cannot be trained on */
  krl_f32s logprobs; /* of each token; krl_policy_info.logprobs says under which distribution */
  uint64_t policy_version; /* of the weights that sampled it; of the last ones, if they changed meanwhile */
  const krl_version_span* const* spans; /* where they changed, first_token ascending from 0; empty if they did not */
  size_t n_spans;
  krl_str state; /* the policy's own: the sample's krl_example gives it back */
} krl_sample;

/* Takes the answers of a call. */
typedef struct krl_sample_sink {
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] In any order, each as soon as it is finished. */
  krl_status (*put)(const struct krl_sample_sink*, const krl_sample*);
  /* [sink] Gives up the samples of `request` that were not put; other requests of the call go on. Their turns are dropped and
   * counted. KRL_INVALID_ARGUMENT: this policy cannot answer the request, for example a prompt longer than its context. */
  krl_status (*fail)(const struct krl_sample_sink*, uint32_t request, krl_status status, krl_str why);
} krl_sample_sink;

typedef struct krl_example { /* one training example: one turn */
  uint32_t struct_size, flags;
  krl_i32s prompt_tokens, tokens;
  krl_f32s logprobs;   /* when sampled; per token of `tokens`; empty for cross_entropy */
  krl_f32s advantages; /* per token; empty for cross_entropy */
  krl_f32s weights;    /* per token, 0 masks it; empty = all 1 */
  /* For a critic; both per token or both empty. */
  krl_f32s values;  /* its predictions when the advantages were computed */
  krl_f32s returns; /* its targets */
  /* Per token, or empty: under the weights at the start of the update, if the policy NEEDS_OLD_LOGPROBS or did not sample. */
  krl_f32s old_logprobs;
  krl_f32s reference_logprobs; /* per token: of the plan's reference for "kl"; if empty, that is the policy as it was when "kl" was first above 0 */
  uint64_t version;            /* krl_sample.policy_version */
  krl_str state;               /* krl_sample.state */
} krl_example;

/* A named number, for losses. */
typedef struct krl_parameter {
  uint32_t struct_size, reserved;
  krl_str name;
  double value;
} krl_parameter;

#define KRL_TOKEN_MEAN 0u    /* sum over tokens of weight × loss / normaliser */
#define KRL_SEQUENCE_MEAN 1u /* sum over examples of (mean over its tokens) / normaliser */
#define KRL_TOKEN_SUM 2u     /* sum over tokens of weight × loss */

#define KRL_LOSS_LAST_OF_STEP 1u /* no forward_backward() follows before optimizer_step() */

/* The loss to learn by, with its parameters. */
typedef struct krl_loss {
  uint32_t struct_size, aggregation;
  krl_str name;       /* "cross_entropy", "importance_sampling", "ppo", "gspo", "cispo" */
  double normaliser;  /* of the whole optimiser step: all calls, all ranks */
  double temperature; /* logits are divided by it, as when sampling; 1 for cross_entropy */
  /* "clip_low", "clip_high", "dual_clip", "kl", "kl_estimator" (2 or 3), "tis", "entropy"; with a critic "value_weight", "value_clip";
   * unknown = error */
  const krl_parameter* const* parameters;
  size_t n_parameters;
  uint32_t flags, reserved; /* KRL_LOSS_LAST_OF_STEP */
} krl_loss;

typedef struct krl_optimizer { /* AdamW */
  uint32_t struct_size, flags;
  double lr, beta1, beta2, epsilon, weight_decay;
  double grad_clip; /* the largest global norm; 0 = off */
} krl_optimizer;

/* Takes the log-probabilities of the examples of a call. */
typedef struct krl_logprob_sink {
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] The log-probabilities of one example, one for each of its tokens. */
  krl_status (*put)(const struct krl_logprob_sink*, size_t example, krl_f32s logprobs);
} krl_logprob_sink;

/* Takes the critic's values for the examples of a call. */
typedef struct krl_critic_sink {
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] The values for one example, one for each of its tokens. */
  krl_status (*put)(const struct krl_critic_sink*, size_t example, krl_f32s values);
} krl_critic_sink;

#define KRL_POLICY_TRAINABLE 1u
#define KRL_POLICY_HAS_TOKENS 2u
#define KRL_POLICY_NEEDS_CORPUS 4u /* call fit() before anything else */
#define KRL_POLICY_HAS_CRITIC 8u   /* values() works, and forward_backward() trains it */
/* sample() and sample_stream() may overlap every other call on the instance but load(), fit() and follow(), of which one is made at a
 * time. They use the weights that were last published; publish() and adopt_weights() may come while they sample. */
#define KRL_POLICY_SAMPLES_WHILE_TRAINING 16u
#define KRL_POLICY_SHARES_PROMPTS 32u      /* n_samples of one request process its prompt once */
#define KRL_POLICY_CONTINUES 64u           /* krl_request.answer_prefix works */
#define KRL_POLICY_TAKES_TOKENS 128u       /* krl_request.prompt_tokens works */
#define KRL_POLICY_HAS_LOGPROBS 256u       /* logprobs() works, though the policy may not be trainable */
#define KRL_POLICY_NEEDS_OLD_LOGPROBS 512u /* for "tis": it keeps no weights of its own to compute them with */

/* The distribution of krl_sample.logprobs. Learning uses that of the logits divided by the temperature, before top_k and top_p:
 * RAW is usable at temperature 1, PROCESSED without top_k and top_p. */
#define KRL_LOGPROBS_UNKNOWN 0u
#define KRL_LOGPROBS_RAW 1u       /* of the model's own distribution */
#define KRL_LOGPROBS_SCALED 2u    /* after the temperature */
#define KRL_LOGPROBS_PROCESSED 3u /* after top_k and top_p too */

#define KRL_WEIGHTS_HF 1u   /* a Hugging Face directory */
#define KRL_WEIGHTS_PEFT 2u /* a directory with a LoRA adapter */

/* What a policy can do. */
typedef struct krl_policy_info {
  uint32_t struct_size, flags;
  int64_t context_tokens, vocabulary; /* 0 = unknown */
  uint64_t version;                   /* of the weights that sample; never decreases */
  krl_str description;                /* "llama 4x128, 0.82 M parameters, cpu, 2 threads" */
  uint32_t logprobs;                  /* KRL_LOGPROBS_* */
  uint32_t exports, adopts;           /* KRL_WEIGHTS_* for export_weights() and adopt_weights() */
  uint32_t reserved;
} krl_policy_info;

/* Takes the description of a policy. */
typedef struct krl_policy_info_sink {
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] exactly once; the host copies the text */
  krl_status (*info)(const struct krl_policy_info_sink*, const krl_policy_info*);
} krl_policy_info_sink;

typedef struct krl_weights { /* exported by one policy, for another to sample with */
  uint32_t struct_size, kind; /* one of KRL_WEIGHTS_* */
  krl_str directory;          /* absolute; kept until the next ones have been adopted */
  uint64_t version;           /* of the policy that exported them */
} krl_weights;

/* The functions of a policy. */
typedef struct krl_policy_v {
  uint32_t struct_size, kind; /* KRL_POLICY */
  /* [call] Says what the policy can do. */
  krl_status (*describe)(void* self, const krl_call*, const krl_policy_info_sink*);
  /* [call] Answers n requests. Metrics, summed: "retries", "prompt_tokens", "cached_tokens". */
  krl_status (*sample)(void* self, const krl_call*, const krl_request* const*, size_t n, const krl_sample_sink*);
  /* [call] Renders `messages` and, as the answer to be learned, `answer`: one sample with prompt_tokens and tokens. */
  krl_status (*tokenize)(void* self, const krl_call*, const krl_message* const* messages, size_t n, krl_str answer,
                         const krl_sample_sink*);

  /* The following are NULL, or return KRL_UNIMPLEMENTED, if the policy lacks them. Up to export_weights() all are present in a
   * KRL_POLICY_TRAINABLE one. */

  /* [call] Once, where the policy NEEDS_CORPUS: texts of its future prompts and answers, to build a vocabulary from. */
  krl_status (*fit)(void* self, const krl_call*, const krl_str* texts, size_t n, uint64_t seed);
  /* [call] Log-probabilities of the tokens of each example under the current weights. */
  krl_status (*logprobs)(void* self, const krl_call*, double temperature, const krl_example* const*, size_t n,
                         const krl_logprob_sink*);
  /* [call] Adds the gradient of the loss. Metrics, summed over the calls of a step: "loss", "clip_fraction", "ppo_kl",
   * "entropy", "logprob_diff_mean", "value_loss"; the host keeps the maximum of "logprob_diff_max".
   * May return before the work is done: metrics and errors may arrive with a later call, optimizer_step() at the latest.
   * If examples have returns, the critic's loss of a token, aggregated as the policy's is and added to it, is value_weight ×
   * 0.5 × max((v - return)², (v' - return)²), where v' is v kept within value_clip of `values` (off at 0). */
  krl_status (*forward_backward)(void* self, const krl_call*, const krl_loss*, const krl_example* const*, size_t n);
  /* [call] One step with the accumulated gradient, which is then zeroed. Metrics: "grad_norm", and late ones of forward_backward(). */
  krl_status (*optimizer_step)(void* self, const krl_call*, const krl_optimizer*);
  /* [call] Weights, optimiser, vocabulary: everything that the next step depends on. The directory exists and is empty. */
  krl_status (*save)(void* self, const krl_call*, krl_str directory);
  /* [call] Restores what save() wrote to the directory. */
  krl_status (*load)(void* self, const krl_call*, krl_str directory);
  /* [call] For other programs: `format` is "hf" (a Hugging Face directory) or "peft" (an adapter). */
  krl_status (*export_weights)(void* self, const krl_call*, krl_str directory, krl_str format);

  /* [call] Like sample(), for requests as they arrive from the source, concurrently with those in progress, until no more come.
   * Calls of tokenize() may overlap this one, one at a time. */
  krl_status (*sample_stream)(void* self, const krl_call*, const krl_request_source*, const krl_sample_sink*);
  /* [call] Where the policy HAS_CRITIC: for each of an example's n `tokens`, the value of the state before it (the prompt and
   * the tokens so far): the return that the critic expects from there. */
  krl_status (*values)(void* self, const krl_call*, const krl_example* const*, size_t n, const krl_critic_sink*);
  /* For policies made of several processes, all started alike; both or neither.
   * [main] Before any create(): *out is 1 if the environment says that this process serves the one that runs the experiment,
   * else 0. KRL_INVALID_ARGUMENT if the environment is ambiguous. */
  krl_status (*follows)(const krl_call*, int32_t* out);
  /* [call] The only call in such a process: serves until the other one is done with its policy. */
  krl_status (*follow)(void* self, const krl_call*);

  /* [call] Before there is an instance: what describe() will return for one with these options, as far as that is known without
   * starting it (logprobs may be KRL_LOGPROBS_UNKNOWN); and whether it can learn by this loss, otherwise KRL_INVALID_ARGUMENT
   * with the reason. Cheap: no files, no network. */
  krl_status (*preview)(const krl_config*, const krl_call*, const krl_policy_info_sink*);
  krl_status (*check_loss)(const krl_config*, const krl_call*, const krl_loss*);
  /* [call] From here on the current weights sample; *version is theirs. A policy without this call samples with its newest
   * weights. Samples in progress may continue with the earlier ones, end as KRL_STOP_ABORTED, or have spans. */
  krl_status (*publish)(void* self, const krl_call*, uint64_t* version);
  /* [call] Samples with these weights, under their version, once it returns OK; until then with the previous ones. */
  krl_status (*adopt_weights)(void* self, const krl_call*, const krl_weights*);
  /* [call] The host is about to delete a directory filled by save(): anything kept elsewhere for it can be deleted. */
  krl_status (*forget)(void* self, const krl_call*, krl_str directory);
} krl_policy_v;

/* ---- backends ----------------------------------------------------------------------------------------------------- */

typedef struct krl_evaluation_sink { /* what was pushed survives a crash */
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] each, in any order; `verdict` exactly once and last. */
  krl_status (*identity)(const struct krl_evaluation_sink*, krl_str toolchain, krl_str device);
  krl_status (*compile_log)(const struct krl_evaluation_sink*, krl_str chunk);
  krl_status (*diagnostic)(const struct krl_evaluation_sink*, const krl_diagnostic*);
  krl_status (*kernel)(const struct krl_evaluation_sink*, const krl_kernel*);
  krl_status (*add_case)(const struct krl_evaluation_sink*, const krl_case*);
  krl_status (*value)(const struct krl_evaluation_sink*, const krl_value*);
  krl_status (*verdict)(const struct krl_evaluation_sink*, uint32_t verdict, krl_str why);
} krl_evaluation_sink;

#define KRL_BACKEND_REAL_SIZES 1u /* tasks with real sizes are timed at those */

/* What a backend can do. */
typedef struct krl_backend_info {
  uint32_t struct_size, flags; /* KRL_BACKEND_* */
  uint32_t concurrency; /* the most evaluations it can run at a time */
  uint32_t signals;     /* KRL_SIGNAL_* */
  krl_str toolchain, device;
} krl_backend_info;

/* Takes the description of a backend. */
typedef struct krl_backend_info_sink {
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] exactly once; the host copies the texts */
  krl_status (*info)(const struct krl_backend_info_sink*, const krl_backend_info*);
} krl_backend_info_sink;

/* The functions of a backend. */
typedef struct krl_backend_v {
  uint32_t struct_size, kind; /* KRL_BACKEND */
  /* [call] Says what the backend can do. */
  krl_status (*describe)(void* self, const krl_call*, const krl_backend_info_sink*);
  /* [call] Checks a task before it is used: its reference compiles and returns the declared shapes, its naive kernel is right,
   * no constant or identity output passes. KRL_INVALID_ARGUMENT: file:line:column and why. Cheap when repeated. */
  krl_status (*prepare)(void* self, const krl_call*, const krl_task*, const krl_evaluate_options*);
  /* [call] A pure function of the candidate and the options. A wrong candidate is KRL_OK with its verdict; any other status
   * is an error of the backend itself. */
  krl_status (*evaluate)(void* self, const krl_call*, const krl_candidate*, const krl_evaluate_options*,
                         const krl_evaluation_sink*);
} krl_backend_v;

/* ---- rewards ------------------------------------------------------------------------------------------------------ */

/* The functions of a reward. */
typedef struct krl_reward_v {
  uint32_t struct_size;
  uint32_t needs; /* KRL_SIGNAL_* */
  /* [call] One finite number per turn into out[0..n). Called only for turns that satisfy the term's `when`. */
  krl_status (*score)(void* self, const krl_call*, const krl_turn* const*, size_t n, double* out);
} krl_reward_v;

/* ---- datasets ----------------------------------------------------------------------------------------------------- */

/* A supervised example. A task without a definition is shown as its prompt alone, so that texts of other projects can be
 * learned from; it has no earlier answers, and only the role "warmup" takes it. */
typedef struct krl_pair {
  uint32_t struct_size, n_earlier;
  const krl_task* task;
  krl_str answer;
  /* Answers of earlier turns, oldest first. The host evaluates them and shows the results in the prompt, so that the pair
   * teaches repair. */
  const krl_str* earlier;
  krl_str shows; /* words for how its kernels work, separated by commas: "stages,block_tree". Reports count them. */
} krl_pair;

typedef struct krl_document { /* a text for retrieval */
  uint32_t struct_size, reserved;
  krl_str id, task_hint, text, meta_json;
} krl_document;

/* Takes the item that was read. */
typedef struct krl_dataset_sink {
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] Takes a task. */
  krl_status (*task)(const struct krl_dataset_sink*, const krl_task*);
  /* [sink] Takes a supervised example. */
  krl_status (*pair)(const struct krl_dataset_sink*, const krl_pair*);
  /* [sink] Takes a document for retrieval. */
  krl_status (*document)(const struct krl_dataset_sink*, const krl_document*);
} krl_dataset_sink;

typedef struct krl_document_query { /* documents to show with a task */
  uint32_t struct_size, count; /* of documents wanted */
  const krl_task* task;
  const krl_str* guarded; /* texts of which no copy may be found, besides the task's own, such as its answer in a pair */
  size_t n_guarded;
} krl_document_query;

/* A document that was found. */
typedef struct krl_found {
  uint32_t struct_size, reserved;
  const krl_document* document;
  double score;     /* the higher the nearer; comparable within one dataset */
  krl_str left_out; /* empty: the document may be shown. Otherwise a word of a-z and '_' that says why not: "own_task" */
} krl_found;

/* Takes the documents that were found. */
typedef struct krl_found_sink {
  uint32_t struct_size, flags;
  void* ctx;
  /* [sink] The highest score first. */
  krl_status (*found)(const struct krl_found_sink*, const krl_found*);
} krl_found_sink;

/* The functions of a dataset. */
typedef struct krl_dataset_v {
  uint32_t struct_size, kind; /* KRL_DATASET */
  /* [call] The number of items. */
  krl_status (*size)(void* self, const krl_call*, uint64_t* out);
  /* [call] Pushes item `index`, one of the three kinds. The same index gives the same item. */
  krl_status (*read)(void* self, const krl_call*, uint64_t index, const krl_dataset_sink*);

  /* [call] NULL if the dataset cannot be searched. Pushes at most `count` documents to be shown with the task, and those with
   * higher scores that would give its answer away. The same query finds the same documents. */
  krl_status (*find)(void* self, const krl_call*, const krl_document_query*, const krl_found_sink*);
} krl_dataset_v;

/* ---- what a plugin offers ----------------------------------------------------------------------------------------- */

#define KRL_POLICY 1u
#define KRL_BACKEND 2u
#define KRL_REWARD 3u
#define KRL_DATASET 4u

#define KRL_THREAD_SAFE 1u   /* calls on one instance may overlap */
#define KRL_DETERMINISTIC 2u /* the same calls give the same answers */
#define KRL_NEEDS_GPU 4u
#define KRL_TAKES_HOST 8u    /* a backend: candidates of KRL_CONTRACT_HOST as well */

typedef struct krl_component { /* a component that a plugin offers; static */
  uint32_t struct_size, kind, flags, n_fields;
  krl_str id; /* unique within its kind: "speedup"; a stranger's is "vendor.name" */
  krl_str summary;
  const krl_field* const* fields;
  /* [call] Heavy work starts here, not before: libraries, devices, servers. */
  krl_status (*create)(const krl_host*, const krl_config*, const krl_call*, void** self);
  /* Destroys an instance that create() made. */
  void (*destroy)(void* self);
  const void* table; /* krl_policy_v, krl_backend_v, krl_reward_v or krl_dataset_v */
} krl_component;

typedef struct krl_plugin { /* what a plugin offers; static */
  uint32_t struct_size, abi_minor;
  krl_str name, version, license, built_with;
  const krl_component* const* components;
  size_t n_components;
} krl_plugin;

/* The one exported symbol; its name carries the major version. [main] Pure: no I/O, no threads, no calls into the host. */
typedef const krl_plugin* (*krl_plugin_entry)(const krl_host*);
#define KRL_PLUGIN_ENTRY "krl_plugin_v1"

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KERNELRL_ABI_H_ */
/* NOLINTEND(modernize-use-using) */
