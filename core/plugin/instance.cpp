#include "core/plugin/instance.hpp"

#include "core/plugin/config_view.hpp"
#include "core/plugin/host.hpp"

namespace krl {

Result<Instance> Instance::create(const Component& component, const nlohmann::json& table,
                                  const CallScope& scope) {
  const ConfigView config(table);
  std::atomic<bool> given_up{false};
  return krl::patiently(Tries(scope, given_up), [&]() -> Result<Instance> {
    Call call(component, scope);
    void* self = nullptr;
    const krl_status status = component.raw->create(host(), config.c(), call.c(), &self);
    KRL_TRY(call.finish(status, "create"));
    if (self == nullptr) return failure(call.broken("create", "it gave no instance"));
    return Instance(component, scope, self);
  });
}

}  // namespace krl
