// Words that would reach around the emulator: assembly, and attributes that switch its hooks off. Using one is a compile
// error that unsupported_in_log() recognises. Headers of the shim that come later use none of them outside of macros.
#pragma once

#pragma GCC poison asm __asm __asm__
#pragma GCC poison no_sanitize __no_sanitize__ no_sanitize_thread __no_sanitize_thread__ no_sanitize_undefined
#pragma GCC poison __no_sanitize_undefined__ no_sanitize_coverage __no_sanitize_coverage__
#pragma GCC poison constructor __constructor__ destructor __destructor__ section __section__
#pragma GCC poison optimize __optimize__ target_clones __target_clones__
#pragma GCC poison ifunc __ifunc__ naked __naked__ tls_model __tls_model__
#pragma GCC poison __builtin_frame_address __builtin_return_address __builtin_extract_return_addr
#pragma GCC poison __builtin_longjmp __builtin_setjmp __builtin_apply __builtin_apply_args __builtin_eh_return
#pragma GCC poison __builtin_alloca __builtin_alloca_with_align __builtin_unreachable
