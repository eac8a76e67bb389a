// The SDK of kernelrl: what an author of a plugin includes.
//
// Header-only C++17 on top of the C boundary in <kernelrl/abi.h>; everything here is compiled into
// the plugin. A component is a class that derives from krl::Reward, krl::Backend, krl::Policy (or
// krl::TrainablePolicy) or krl::Dataset; its options are data members named in `static constexpr
// auto config`; KRL_PLUGIN makes a plugin of one or more of them. Throw krl::Failure to fail a
// call. Helpers that some plugins want are headers of their own: <kernelrl/expression.hpp>,
// <kernelrl/task_definition.hpp>, <kernelrl/launch.hpp>.
#pragma once

#include <kernelrl/abi.h>
#include <kernelrl/backend.hpp>
#include <kernelrl/component.hpp>
#include <kernelrl/dataset.hpp>
#include <kernelrl/policy.hpp>
#include <kernelrl/reward.hpp>
#include <kernelrl/values.hpp>
#include <kernelrl/views.hpp>
