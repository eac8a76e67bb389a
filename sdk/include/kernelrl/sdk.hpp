// The kernelrl SDK: the header that plugin authors include.
//
// Header-only C++17 on top of the C boundary in <kernelrl/abi.h>; everything here is compiled into
// the plugin. A component is a class that derives from krl::Reward, krl::Backend, krl::Policy (or
// krl::TrainablePolicy) or krl::Dataset; its options are data members listed in
// `static constexpr auto config`; KRL_PLUGIN makes a plugin of one or more of them. Throw
// krl::Failure to fail a call. Optional helpers have separate headers: <kernelrl/expression.hpp>,
// <kernelrl/task_definition.hpp>, <kernelrl/launch.hpp>, <kernelrl/evaluation_json.hpp>.
#pragma once

#include <kernelrl/abi.h>
#include <kernelrl/backend.hpp>
#include <kernelrl/component.hpp>
#include <kernelrl/dataset.hpp>
#include <kernelrl/evaluation.hpp>
#include <kernelrl/policy.hpp>
#include <kernelrl/reward.hpp>
#include <kernelrl/values.hpp>
#include <kernelrl/views.hpp>
