// The plugin, loaded from its file as kernelrl loads it.
#include <cstdio>
#include <kernelrl/testing.hpp>

int main(int, char** argv) {
  const krl::testing::Plugin plugin(argv[1]);
  const auto backend = plugin.create<krl_backend_v>(KRL_BACKEND, "new_vendor.new_component");
  krl_task task{};
  task.struct_size = sizeof task;
  const krl_candidate candidate{sizeof candidate, KRL_CONTRACT_DEVICE, &task,
                                krl::to_c("void f() {")};
  const krl_evaluate_options options{sizeof options, KRL_STAGE_COMPILE, 1};
  krl::testing::EvaluationReceiver receiver;
  backend.call().require(backend.table().evaluate(backend.self(), backend.context(), &candidate,
                                                  &options, receiver.c()));
  if (receiver.evaluation().verdict == krl::Verdict::kCompileError) return 0;
  std::printf("an open bracket was not refused\n");
  return 1;
}
