#pragma once
#include "krl/float_limits.h"
