#include "plugins/datasets/templates/task_families.hpp"

namespace krl::templates {
namespace {

std::vector<Family> make_families() {
  std::vector<Family> families = {
      elementwise(),       row_reduction(),       total_reduction(), dot_product(), softmax(),
      rms_normalisation(), layer_normalisation(), transpose(),       matmul(),      row_map(),
      line_stencil(),      plane_stencil(),       prefix_sum(),      histogram(),   argmax(),
      cross_entropy()};
  std::set<std::string> taken;
  for (const Family& family : families)
    for (const Operation& operation : family.operations) taken.insert(operation.id);
  for (Family& family : task_families(taken)) families.push_back(std::move(family));
  return families;
}

}  // namespace

const std::vector<Family>& all_families() {
  static const std::vector<Family> families = make_families();
  return families;
}

}  // namespace krl::templates
