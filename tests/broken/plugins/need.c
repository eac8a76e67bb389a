/* The library that a plugin misses where it is not found. */
double broken_need(void);
double broken_need(void) { return 0.5; }
