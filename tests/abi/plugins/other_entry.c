/* Libraries without the entry point of this version: KRL_ENTRY names what they export instead. */
#ifdef KRL_ENTRY_IS_DATA
__attribute__((visibility("default"))) const char krl_plugin_v1[] = "not a function";
#else
__attribute__((visibility("default"))) int KRL_ENTRY(void);
int KRL_ENTRY(void) { return 0; }
#endif
