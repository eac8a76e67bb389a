// What this header declares under CUDA is in krl_device.h, which is in front of every kernel.
#pragma once
