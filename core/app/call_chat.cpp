#include <charconv>
#include <iostream>

#include "core/app/calls.hpp"
#include "core/app/chat.hpp"
#include "core/app/console.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/follower_call.hpp"
#include "core/app/policy_call.hpp"
#include "core/app/stop_signals.hpp"
#include "core/episode/rollout.hpp"
#include "core/plugin/call_watch.hpp"

namespace krl {
namespace po = boost::program_options;
namespace {

// Replaces `value` by the number of the option `name`, if it is there. False if it is none in
// `low`..`high`.
template <class Number>
bool take_number(const CallLine& line, const char* name, double low, double high, Number& value) {
  if (!line.has(name)) return true;
  const std::string& text = line.text(name);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() &&
         static_cast<double>(value) >= low && static_cast<double>(value) <= high;
}

int chat(const PolicyCall& call, const Sampling& sampling) {
  const CallScope scope = call_scope(call.plan().run, StopSignals::stop());
  const CallWatch watch(print_warning);
  Components components(call.loaded.registry, scope);
  const auto policy = open_policy(call, components);
  if (!policy) return report(policy.error());
  Chat(call, *policy, components, sampling).run(std::cin);
  return kDone;
}

}  // namespace

int call_chat(const Words& words) {
  CallLine line("kernelrl chat (--run NAME | --plan PLAN [--checkpoint DIR])",
                "Answers the lines of its input by a policy; /help lists what else it knows.\n");
  add_policy_options(line);
  line.options()("max-tokens", po::value<std::string>()->value_name("N"),
                 "tokens an answer may have; else the plan's")(
      "temperature", po::value<std::string>()->value_name("T"),
      "of sampling, 0 = greedy; else the plan's");
  if (const auto over = line.parse(words)) return *over;
  if (!names_policy(line))
    return line.wrong("which policy? Name its run by --run, or a plan by --plan");
  const auto call = read_policy_call(line);
  if (!call) return report(call.error());
  if (const auto served = serve_as_follower(call->loaded)) return *served;
  show_notes(*call);
  Sampling sampling = sampling_of(call->settings().rollout);
  if (!take_number(line, "max-tokens", 1, 1 << 20, sampling.max_tokens))
    return line.wrong("--max-tokens takes a number from 1 to 1048576");
  if (!take_number(line, "temperature", 0, 10, sampling.temperature))
    return line.wrong("--temperature takes a number from 0 to 10");
  return chat(*call, sampling);
}

}  // namespace krl
