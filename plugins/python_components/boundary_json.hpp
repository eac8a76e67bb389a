// The values of the boundary as JSON and back: clients/python/kernelrl/components.py has the same
// fields. Pure.
#pragma once

#include <kernelrl/policy_values.hpp>
#include <kernelrl/sdk.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace krl::python_components {

nlohmann::json json_of(const Task& task);
nlohmann::json json_of(const Turn& turn);
nlohmann::json json_of(const Candidate& candidate, const EvaluateOptions& options);
nlohmann::json json_of(const Messages& messages);
nlohmann::json json_of(const Request& request);
nlohmann::json json_of(const Example& example);
nlohmann::json json_of(const Loss& loss);
nlohmann::json json_of(const krl_optimizer& optimizer);

// A number as the worker writes it: null for NaN, "inf" and "-inf".
double number_of(const nlohmann::json& json);

// Throws a std::exception where the JSON is not that of a sample.
SampleValue sample_of(const nlohmann::json& json);

// KRL_SIGNAL_* of a list of names. Throws KRL_INVALID_ARGUMENT on an unknown name.
std::uint32_t signals_of(const nlohmann::json& names);

// Pushes an item of a dataset from its JSON text: {"task": …}, {"pair": …} or {"document": …}.
void push_item(const std::string& text, const DatasetSink& sink);

}  // namespace krl::python_components
