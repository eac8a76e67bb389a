/* Pays for short kernels: replace it with what your runs should be paid for. */
#include <kernelrl/abi.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

typedef struct {
  double limit; /* characters that earn nothing */
} Instance;

static krl_status create(const krl_host* host, const krl_config* config, const krl_call* call,
                         void** self) {
  static const krl_str key = TEXT("limit"), why = TEXT("out of memory");
  Instance* made = malloc(sizeof *made);
  (void)host;
  if (made == NULL) return call->fail(call, KRL_RESOURCE_EXHAUSTED, why);
  config->get_float(config, key, &made->limit); /* checked, and there: it has a default */
  *self = made;
  return KRL_OK;
}

static void destroy(void* self) { free(self); }

/* 1 for no source at all, falling to 0 at `limit` characters. */
static krl_status score(void* self, const krl_call* call, const krl_turn* const* turns, size_t n,
                        double* out) {
  const Instance* term = self;
  (void)call;
  for (size_t i = 0; i < n; ++i) {
    const double left = 1 - (double)turns[i]->source.size / term->limit;
    out[i] = left > 0 ? left : 0;
  }
  return KRL_OK;
}

static const krl_field kLimit = {
    sizeof kLimit, KRL_FLOAT,      0,           0,
    TEXT("limit"), TEXT("2000.0"), TEXT("1.."), TEXT("characters that earn nothing")};
static const krl_field* const kFields[] = {&kLimit};
static const krl_reward_v kTable = {sizeof kTable, 0, score};
static const krl_component kComponent = {sizeof kComponent,
                                         KRL_REWARD,
                                         KRL_THREAD_SAFE | KRL_DETERMINISTIC,
                                         1,
                                         TEXT("new_vendor.new_component"),
                                         TEXT("Pays for short kernels"),
                                         kFields,
                                         create,
                                         destroy,
                                         &kTable};
static const krl_component* const kComponents[] = {&kComponent};
static const krl_plugin kPlugin = {
    sizeof kPlugin, KRL_ABI_MINOR,        TEXT("new_component"), TEXT("0.1.0"),
    TEXT("MIT"),    TEXT("a C compiler"), kComponents,           1};

KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host* host) {
  (void)host;
  return &kPlugin;
}
