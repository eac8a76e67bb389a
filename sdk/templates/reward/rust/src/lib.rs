//! Pays for short kernels: replace it with what your runs should be paid for.
mod abi;

use abi::*;
use std::ffi::c_void;
use std::mem::size_of;

struct Term {
    limit: f64, // characters that earn nothing
}

impl Term {
    /// 1 for no source at all, falling to 0 at `limit` characters.
    fn score(&self, source: &str) -> f64 {
        (1.0 - source.len() as f64 / self.limit).max(0.0)
    }
}

extern "C" fn create(_: *const c_void, config: *const Config, _: *const Call, out: *mut *mut c_void) -> i32 {
    let mut term = Box::new(Term { limit: 0.0 });
    unsafe {
        ((*config).get_float)(config, Str::new("limit"), &mut term.limit); // checked, and there: it has a default
        *out = Box::into_raw(term).cast();
    }
    OK
}

extern "C" fn destroy(term: *mut c_void) {
    drop(unsafe { Box::from_raw(term.cast::<Term>()) });
}

/// Nothing may unwind into kernelrl: a panic becomes an error of the call.
extern "C" fn score(term: *mut c_void, call: *const Call, turns: *const *const Turn, n: usize, out: *mut f64) -> i32 {
    let work = || unsafe {
        let term = &*term.cast::<Term>();
        for i in 0..n {
            *out.add(i) = term.score((**turns.add(i)).source.get());
        }
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(()) => OK,
        Err(_) => unsafe { ((*call).fail)(call, INTERNAL, Str::new("the reward panicked")) },
    }
}

static LIMIT: Field = Field {
    struct_size: size_of::<Field>() as u32,
    kind: FLOAT,
    flags: 0,
    reserved: 0,
    key: Str::new("limit"),
    fallback: Str::new("2000.0"),
    range: Str::new("1.."),
    doc: Str::new("characters that earn nothing"),
};
static FIELDS: [&Field; 1] = [&LIMIT];
static TABLE: RewardTable = RewardTable { struct_size: size_of::<RewardTable>() as u32, needs: 0, score };
static COMPONENT: Component = Component {
    struct_size: size_of::<Component>() as u32,
    kind: REWARD,
    flags: THREAD_SAFE | DETERMINISTIC,
    n_fields: 1,
    id: Str::new("new_vendor.new_component"),
    summary: Str::new("Pays for short kernels"),
    fields: FIELDS.as_ptr(),
    create,
    destroy,
    table: &TABLE,
};
static COMPONENTS: [&Component; 1] = [&COMPONENT];
static PLUGIN: Plugin = Plugin {
    struct_size: size_of::<Plugin>() as u32,
    abi_minor: 0,
    name: Str::new("new_component"),
    version: Str::new("0.1.0"),
    license: Str::new("MIT"),
    built_with: Str::new("rustc"),
    components: COMPONENTS.as_ptr(),
    n_components: 1,
};

#[no_mangle]
pub extern "C" fn krl_plugin_v1(_: *const c_void) -> *const Plugin {
    &PLUGIN
}

#[cfg(test)]
mod tests {
    #[test]
    fn pays_for_short_kernels() {
        let term = super::Term { limit: 100.0 };
        assert_eq!(term.score(&"x".repeat(25)), 0.75);
        assert_eq!(term.score(&"x".repeat(500)), 0.0);
    }
}
