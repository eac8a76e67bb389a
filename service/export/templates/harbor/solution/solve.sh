#!/bin/sh
# The task's naive kernel: right, and no faster than itself.
cat > "${1:-/app/kernel.cu}" << 'END_OF_KERNEL'
{{naive}}
END_OF_KERNEL
