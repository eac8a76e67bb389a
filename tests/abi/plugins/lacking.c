/* An entry point that needs a function of another library; and that library. */
#include <kernelrl/abi.h>

void krl_test_lacking(void);
#ifdef KRL_LIBRARY
void krl_test_lacking(void) {}
#else
KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host* host);
const krl_plugin* krl_plugin_v1(const krl_host* host) {
  (void)host;
  krl_test_lacking();
  return NULL;
}
#endif
