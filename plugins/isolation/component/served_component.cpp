#include "plugins/isolation/component/served_component.hpp"

#include <dlfcn.h>

#include <cmath>
#include <deque>
#include <kernelrl/config_json.hpp>
#include <kernelrl/growth.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "plugins/isolation/messages.hpp"
#include "plugins/isolation/values.hpp"

namespace krl::isolation {
namespace {

using nlohmann::json;

const krl_host* host() {
  static const krl_host the_host{sizeof(krl_host), KRL_ABI_MINOR, nullptr, to_c("kernelrl"),
                                 to_c(KERNELRL_VERSION)};
  return &the_host;
}

const krl_component* component_of(const std::string& file, std::uint32_t kind,
                                  const std::string& id) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw Failure(KRL_FAILED_PRECONDITION, ::dlerror());
  const auto entry = reinterpret_cast<krl_plugin_entry>(::dlsym(library, KRL_PLUGIN_ENTRY));
  const krl_plugin* const plugin = entry == nullptr ? nullptr : entry(host());
  for (std::size_t i = 0; plugin != nullptr && i < plugin->n_components; ++i) {
    const krl_component* const component = plugin->components[i];
    if (component->kind == kind && view(component->id) == id) return component;
  }
  throw Failure(KRL_NOT_FOUND, file + " has no '" + id + "' of its kind any more");
}

template <class Table>
const Table& table_of(const krl_component& component) {
  return *static_cast<const Table*>(component.table);
}

// A function of a table that may be of an earlier version, or null.
template <class Table, class Function>
Function function_of(const Table& table, Function Table::*member) {
  return has(table, table.*member) ? table.*member : nullptr;
}

// Calls a function of the table.
template <class Function, class... Args>
void make(HostCall& call, Function function, void* self, Args... args) {
  if (function == nullptr) throw Failure(KRL_UNIMPLEMENTED, "the component lacks this call");
  call.require(function(self, call.c(), args...));
}

// The call that a sink belongs to.
template <class Sink>
HostCall& call_of(const Sink* sink) {
  return *static_cast<HostCall*>(sink->ctx);
}

// Sends what is pushed under the event's name.
template <class V, class Sink>
krl_status push(const Sink* sink, const char* event, const typename V::C* pushed) {
  HostCall& call = call_of(sink);
  if (const auto fault = fault_in(pushed); !fault.empty()) return call.refuse(event, fault);
  if constexpr (std::is_same_v<V, PairValue>)
    if (const auto fault = fault_in(pushed->task); !fault.empty())
      return call.refuse("pair's task", fault);
  if constexpr (std::is_same_v<V, FoundValue>)
    if (const auto fault = fault_in(pushed->document); !fault.empty())
      return call.refuse("found document", fault);
  return call.send(event, encode_c<V>(*pushed));
}

// The same of a part of an evaluation.
template <class C>
krl_status push_part(const krl_evaluation_sink* sink, const char* event, const C* pushed) {
  if (const auto fault = fault_in(pushed); !fault.empty())
    return call_of(sink).refuse(event, fault);
  return call_of(sink).send(event, from_c(*pushed));
}

krl_sample_sink sample_sink(HostCall& call) {
  return {sizeof(krl_sample_sink), 0, &call,
          [](const krl_sample_sink* sink, const krl_sample* sample) -> krl_status {
            return push<SampleValue>(sink, "sample", sample);
          },
          [](const krl_sample_sink* sink, std::uint32_t request, krl_status status,
             krl_str why) -> krl_status {
            return call_of(sink).send("fail", json::array({request, status, view(why)}));
          }};
}

krl_evaluation_sink evaluation_sink(HostCall& call) {
  using Sink = const krl_evaluation_sink*;
  return {sizeof(krl_evaluation_sink),
          0,
          &call,
          [](Sink sink, krl_str toolchain, krl_str device) -> krl_status {
            return call_of(sink).send("identity", json::array({view(toolchain), view(device)}));
          },
          [](Sink sink, krl_str chunk) -> krl_status {
            return call_of(sink).send("compile_log", view(chunk));
          },
          [](Sink sink, const krl_diagnostic* pushed) -> krl_status {
            return push_part(sink, "diagnostic", pushed);
          },
          [](Sink sink, const krl_kernel* pushed) -> krl_status {
            return push_part(sink, "kernel", pushed);
          },
          [](Sink sink, const krl_case* pushed) -> krl_status {
            return push_part(sink, "case", pushed);
          },
          [](Sink sink, const krl_value* pushed) -> krl_status {
            return push_part(sink, "value", pushed);
          },
          [](Sink sink, std::uint32_t verdict, krl_str why) -> krl_status {
            return call_of(sink).send("verdict", json::array({verdict, view(why)}));
          }};
}

template <class Sink>
Sink rows_sink(HostCall& call) {
  return {sizeof(Sink), 0, &call,
          [](const Sink* sink, std::size_t example, krl_f32s row) -> krl_status {
            const std::vector<float> numbers(row.data, row.data + row.size);
            return call_of(sink).send("row", json::array({example, numbers}));
          }};
}

krl_dataset_sink dataset_sink(HostCall& call) {
  using Sink = const krl_dataset_sink*;
  return {sizeof(krl_dataset_sink),
          0,
          &call,
          [](Sink sink, const krl_task* task) { return push<TaskValue>(sink, "task", task); },
          [](Sink sink, const krl_pair* pair) { return push<PairValue>(sink, "pair", pair); },
          [](Sink sink, const krl_document* document) {
            return push<DocumentValue>(sink, "document", document);
          }};
}

// Requests that the host passes on as they come; each lives as long as the call.
struct Source {
  explicit Source(HostCall& of_call) : call(of_call) { c = {sizeof c, 0, this, next}; }

  static krl_status next(const krl_request_source* source, std::int32_t wait,
                         const krl_request** out) {
    auto& self = *static_cast<Source*>(source->ctx);
    const json reply = self.call.ask(wait != 0 ? "wait" : "next");
    if (reply.is_null()) return KRL_CANCELLED;
    *out = reply.empty()
               ? nullptr
               : self.views.add(self.requests.emplace_back(decode<RequestValue>(reply.at(0))));
    return KRL_OK;
  }

  HostCall& call;
  std::deque<RequestValue> requests;
  CViews<RequestValue> views;
  krl_request_source c{};
};

}  // namespace

void ServedComponent::create(const json& options, HostCall& call) {
  component_ = component_of(file_, kind_, id_);
  add_functions();
  const JsonConfig config(options);
  call.require(component_->create(host(), config.c(), call.c(), &self_));
  if (self_ == nullptr) throw Failure(KRL_INTERNAL, "it gave no instance");
}

void ServedComponent::add_functions() {
  switch (kind_) {
    case KRL_REWARD:
      return add_reward(table_of<krl_reward_v>(*component_));
    case KRL_DATASET:
      return add_dataset(table_of<krl_dataset_v>(*component_));
    case KRL_BACKEND:
      return add_backend(table_of<krl_backend_v>(*component_));
    default:
      add_policy(table_of<krl_policy_v>(*component_));
      add_learning(table_of<krl_policy_v>(*component_));
  }
}

json ServedComponent::answer(const std::string& name, const json& arguments, HostCall& call) {
  if (name == "create") return create(arguments, call), nullptr;
  if (name == "destroy") {
    if (self_ != nullptr) component_->destroy(std::exchange(self_, nullptr));
    return nullptr;
  }
  return functions_.at(name)(self_, arguments, call);
}

void ServedComponent::add_reward(const krl_reward_v& table) {
  functions_["score"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto turns = decode_all<TurnValue>(arguments);
    std::deque<TurnView> views;
    std::vector<const krl_turn*> pointers;
    for (const TurnValue& turn : turns) pointers.push_back(views.emplace_back(turn).c());
    std::vector<double> out(turns.size(), NAN);
    make(call, table.score, self, pointers.data(), pointers.size(), out.data());
    return json(out);
  };
}

void ServedComponent::add_dataset(const krl_dataset_v& table) {
  functions_["size"] = [&table](void* self, const json&, HostCall& call) {
    std::uint64_t size = 0;
    make(call, table.size, self, &size);
    return json(size);
  };
  functions_["read"] = [&table](void* self, const json& arguments, HostCall& call) {
    const krl_dataset_sink sink = dataset_sink(call);
    make(call, table.read, self, arguments.get<std::uint64_t>(), &sink);
    return json();
  };
  functions_["find"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto query = decode<DocumentQueryValue>(arguments);
    const krl_found_sink sink{sizeof sink, 0, &call,
                              [](const krl_found_sink* to, const krl_found* found) {
                                return push<FoundValue>(to, "found", found);
                              }};
    make(call, function_of(table, &krl_dataset_v::find), self, CView<DocumentQueryValue>(query).c(),
         &sink);
    return json();
  };
}

void ServedComponent::add_backend(const krl_backend_v& table) {
  functions_["describe"] = [&table](void* self, const json&, HostCall& call) {
    const krl_backend_info_sink sink{
        sizeof sink, 0, &call, [](const krl_backend_info_sink* to, const krl_backend_info* info) {
          return push<BackendInfoValue>(to, "info", info);
        }};
    make(call, table.describe, self, &sink);
    return json();
  };
  functions_["prepare"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto task = decode<TaskValue>(arguments.at(0));
    const auto options = decode<EvaluateOptionsValue>(arguments.at(1));
    make(call, table.prepare, self, CView<TaskValue>(task).c(),
         CView<EvaluateOptionsValue>(options).c());
    return json();
  };
  functions_["evaluate"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto candidate = decode<CandidateValue>(arguments.at(0));
    const auto options = decode<EvaluateOptionsValue>(arguments.at(1));
    const krl_evaluation_sink sink = evaluation_sink(call);
    make(call, table.evaluate, self, CView<CandidateValue>(candidate).c(),
         CView<EvaluateOptionsValue>(options).c(), &sink);
    return json();
  };
}

void ServedComponent::add_policy(const krl_policy_v& table) {
  functions_["describe"] = [&table](void* self, const json&, HostCall& call) {
    const krl_policy_info_sink sink{
        sizeof sink, 0, &call, [](const krl_policy_info_sink* to, const krl_policy_info* info) {
          return push<PolicyInfo>(to, "info", info);
        }};
    make(call, table.describe, self, &sink);
    return json();
  };
  functions_["sample"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto requests = decode_all<RequestValue>(arguments);
    const CViews<RequestValue> views(requests);
    const krl_sample_sink sink = sample_sink(call);
    make(call, table.sample, self, views.data(), views.size(), &sink);
    return json();
  };
  functions_["sample_stream"] = [&table](void* self, const json&, HostCall& call) {
    Source source(call);
    const krl_sample_sink sink = sample_sink(call);
    make(call, function_of(table, &krl_policy_v::sample_stream), self, &source.c, &sink);
    return json();
  };
  functions_["tokenize"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto messages = decode_all<MessageValue>(arguments.at(0));
    const auto answer = arguments.at(1).get<std::string>();
    const CViews<MessageValue> views(messages);
    const krl_sample_sink sink = sample_sink(call);
    make(call, table.tokenize, self, views.data(), views.size(), to_c(answer), &sink);
    return json();
  };
  functions_["logprobs"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto examples = decode_all<ExampleValue>(arguments.at(1));
    const CViews<ExampleValue> views(examples);
    const auto sink = rows_sink<krl_logprob_sink>(call);
    make(call, table.logprobs, self, arguments.at(0).get<double>(), views.data(), views.size(),
         &sink);
    return json();
  };
  functions_["adopt_weights"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto weights = decode<WeightsValue>(arguments);
    make(call, function_of(table, &krl_policy_v::adopt_weights), self,
         CView<WeightsValue>(weights).c());
    return json();
  };
  functions_["follow"] = [&table](void* self, const json&, HostCall& call) {
    make(call, function_of(table, &krl_policy_v::follow), self);
    return json();
  };
}

void ServedComponent::add_learning(const krl_policy_v& table) {
  functions_["fit"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto texts = arguments.at(0).get<std::vector<std::string>>();
    std::vector<krl_str> views;
    for (const std::string& text : texts) views.push_back(to_c(text));
    make(call, table.fit, self, views.data(), views.size(), arguments.at(1).get<std::uint64_t>());
    return json();
  };
  functions_["values"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto examples = decode_all<ExampleValue>(arguments);
    const CViews<ExampleValue> views(examples);
    const auto sink = rows_sink<krl_critic_sink>(call);
    make(call, function_of(table, &krl_policy_v::values), self, views.data(), views.size(), &sink);
    return json();
  };
  functions_["forward_backward"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto loss = decode<LossValue>(arguments.at(0));
    const auto examples = decode_all<ExampleValue>(arguments.at(1));
    const CViews<ExampleValue> views(examples);
    make(call, table.forward_backward, self, CView<LossValue>(loss).c(), views.data(),
         views.size());
    return json();
  };
  functions_["optimizer_step"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto optimizer = decode<OptimizerValue>(arguments);
    make(call, table.optimizer_step, self, CView<OptimizerValue>(optimizer).c());
    return json();
  };
  functions_["export_weights"] = [&table](void* self, const json& arguments, HostCall& call) {
    const auto directory = arguments.at(0).get<std::string>(),
               format = arguments.at(1).get<std::string>();
    make(call, table.export_weights, self, to_c(directory), to_c(format));
    return json();
  };
  functions_["publish"] = [&table](void* self, const json&, HostCall& call) {
    std::uint64_t version = 0;
    make(call, function_of(table, &krl_policy_v::publish), self, &version);
    return json(version);
  };
  using OfDirectory = krl_status (*krl_policy_v::*)(void*, const krl_call*, krl_str);
  for (const auto& [name, member] :
       {std::pair<const char*, OfDirectory>("save", &krl_policy_v::save),
        {"load", &krl_policy_v::load},
        {"forget", &krl_policy_v::forget}}) {
    functions_[name] = [&table, member = member](void* self, const json& arguments,
                                                 HostCall& call) {
      const auto directory = arguments.get<std::string>();
      make(call, function_of(table, member), self, to_c(directory));
      return json();
    };
  }
}

}  // namespace krl::isolation
