// The SDK's examples, a component of each kind, as one plugin.
#include <kernelrl/sdk.hpp>

#pragma push_macro("KRL_PLUGIN")
#undef KRL_PLUGIN
#define KRL_PLUGIN(...)
#include "sdk/docs/examples/brackets.cpp"
#include "sdk/docs/examples/scaled_copies.cpp"
#include "sdk/docs/examples/short_source.cpp"
#include "sdk/docs/examples/two_answers.cpp"
#pragma pop_macro("KRL_PLUGIN")

KRL_PLUGIN("four_kinds", "1.0.0", krl::backend<Brackets>("frozen.backend", "Do brackets match?"),
           krl::dataset<ScaledCopies>("frozen.dataset", "Tasks y = k x"),
           krl::reward<ShortSource>("frozen.reward", "Pays for short kernels"),
           krl::policy<TwoAnswers>("frozen.policy", "Learns which of two answers pays"))
