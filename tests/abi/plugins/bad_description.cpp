// A plugin whose description is good, but for what the statement FAULT does to it.
#include <kernelrl/abi.h>
#include <kernelrl/values.hpp>

namespace {

krl_status create(const krl_host*, const krl_config*, const krl_task_context*, void**) {
  return KRL_UNIMPLEMENTED;
}
void destroy(void*) {}
krl_status score(void*, const krl_task_context*, const krl_turn* const*, std::size_t, double*) {
  return KRL_UNIMPLEMENTED;
}

krl_reward_v table{sizeof(krl_reward_v), 0, score};
krl_field field{sizeof(krl_field), KRL_FLOAT, 0, 0, krl::to_c("limit"), krl::to_c("1.0"), {}, {}};
const krl_field* fields[] = {&field};
krl_component component{sizeof(krl_component),
                        KRL_REWARD,
                        0,
                        1,
                        krl::to_c("test.bad"),
                        krl::to_c("is described badly"),
                        fields,
                        create,
                        destroy,
                        &table,
                        nullptr};
const krl_component* components[] = {&component, nullptr};
krl_plugin plugin{
    sizeof(krl_plugin),      KRL_ABI_MINOR,       krl::to_c("bad"), krl::to_c("1.0.0"),
    krl::to_c("Apache-2.0"), krl::to_c("a test"), components,       1};

}  // namespace

extern "C" KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host*) {
  const krl_plugin* description = &plugin;
  FAULT;
  return description;
}
