/* A reward in C11, without the C++ layer: pays the number of bytes of the answer. */
#include <kernelrl/abi.h>
#include <stdlib.h>

typedef struct counter {
  double each;
} counter;

static krl_status create(const krl_host* host, const krl_config* config, const krl_call* context,
                         void** self) {
  static const krl_str kEach = {"each", 4};
  static const krl_str kNoMemory = {"out of memory", 13};
  counter* c = malloc(sizeof *c);
  (void)host;
  if (c == NULL) return context->fail(context, KRL_RESOURCE_EXHAUSTED, kNoMemory);
  c->each = 1;
  config->get_float(config, kEach, &c->each);
  *self = c;
  return KRL_OK;
}

static void destroy(void* self) { free(self); }

static krl_status score(void* self, const krl_call* context, const krl_turn* const* turns, size_t n,
                        double* out) {
  const counter* c = self;
  (void)context;
  for (size_t i = 0; i < n; ++i) out[i] = c->each * (double)turns[i]->answer.size;
  return KRL_OK;
}

static const krl_reward_v kTable = {sizeof(krl_reward_v), 0, score};
static const krl_field kEachField = {
    sizeof(krl_field), KRL_FLOAT,  0,          0,
    {"each", 4},       {"1.0", 3}, {"0..", 3}, {"what one byte earns", 19}};
static const krl_field* const kFields[] = {&kEachField};
static const krl_component kComponent = {sizeof(krl_component),
                                         KRL_REWARD,
                                         KRL_THREAD_SAFE | KRL_DETERMINISTIC,
                                         1,
                                         {"test.plain_c", 12},
                                         {"Pays for long answers", 21},
                                         kFields,
                                         create,
                                         destroy,
                                         &kTable};
static const krl_component* const kComponents[] = {&kComponent};
static const krl_plugin kPlugin = {sizeof(krl_plugin), KRL_ABI_MINOR, {"plain_c", 7}, {"1.0.0", 5},
                                   {"Apache-2.0", 10}, {"C11", 3},    kComponents,    1};

KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host* host);
const krl_plugin* krl_plugin_v1(const krl_host* host) {
  (void)host;
  return &kPlugin;
}
