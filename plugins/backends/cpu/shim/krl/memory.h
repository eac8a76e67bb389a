// Loads and stores with a cache hint: the hint does not change what is read.
#pragma once

#define KRL_LOAD(name)                                          \
  template <class T>                                            \
  static KRL_INLINE T name(const T* address) { return *address; }
KRL_LOAD(__ldg)
KRL_LOAD(__ldcg)
KRL_LOAD(__ldca)
KRL_LOAD(__ldcs)
KRL_LOAD(__ldlu)
KRL_LOAD(__ldcv)
#undef KRL_LOAD
#define KRL_STORE(name)                                                                   \
  template <class T>                                                                      \
  static KRL_INLINE void name(T* address, krl_same<T> value) { *address = value; }
KRL_STORE(__stwb)
KRL_STORE(__stcg)
KRL_STORE(__stcs)
KRL_STORE(__stwt)
#undef KRL_STORE

extern "C" {
void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
}

static KRL_INLINE unsigned __isGlobal(const void*) { return 1; }
static KRL_INLINE size_t __cvta_generic_to_shared(const void* pointer) { return (size_t)pointer; }
