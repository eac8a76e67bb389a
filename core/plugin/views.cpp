#include "core/plugin/views.hpp"

namespace krl::core {

krl_task view_of(const Task& task) {
  return {sizeof(krl_task), task.tier,         to_c(task.id),
          to_c(task.title), to_c(task.prompt), to_c(task.definition_json)};
}

}  // namespace krl::core
